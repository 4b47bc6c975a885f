import { describe, expect, it } from 'vitest';
import { shareMessages } from '../../../src/plugins/contract/snapshot.ts';
import type { AgentMessage } from '../../../src/plugins/contract/message.ts';
import { hooksText, openActive } from './isolated.ts';

function createMessages(...ids: readonly string[]): AgentMessage[] {
  return ids.map((id) => ({
    id,
    role: 'user',
    content: [{ type: 'text', text: id }],
    createdAt: 0,
  }));
}

function snapshotOf(messages: AgentMessage[], agentId = 'main') {
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const state = { status: 'running', iteration: 1, pendingToolCalls: ['c1'], usage } as const;
  return { agentId, parentAgentId: null, ...state, messages };
}

const ECHO = `(context) => ({ keys: Object.keys(context), context })`;

describe('hooks in a process of their own', () => {
  it('are called with the whole context and answer with the whole result', async () => {
    const { hook } = await openActive(
      hooksText(`beforeRun: ${ECHO}, afterModel: ${ECHO}, beforeTool: ${ECHO}, afterTool: ${ECHO}`),
    );
    const snapshot = snapshotOf(createMessages('a', 'b'));
    expect(await hook('beforeRun', { snapshot })).toEqual({
      keys: ['snapshot'],
      context: { snapshot },
    });
    const toolCall = { type: 'tool-call', toolCallId: 'c1', toolName: 'work', input: { a: 1 } };
    const tool = { name: 'work', description: 'Works.', inputSchema: { type: 'object' } };
    const before = { snapshot, tool, toolCall, input: { a: 1, none: undefined } };
    expect(await hook('beforeTool', before)).toMatchObject({ context: before });
    const after = {
      ...before,
      result: { output: { at: new Date(1), big: 1n }, isError: true },
      startedAt: new Date(5),
      endedAt: new Date(7),
      durationMs: 2,
    };
    const { context } = (await hook('afterTool', after)) as { context: typeof after };
    expect(context).toEqual(after);
    expect(context.startedAt).toBeInstanceOf(Date);
    const model = {
      snapshot,
      assistantMessage: createMessages('c')[0],
      finishReason: 'stop',
      requestId: 'r',
    };
    expect(await hook('afterModel', model)).toMatchObject({ context: model });
  });

  it('refuse with getters of a class and with hidden fields, too', async () => {
    const { hook } = await openActive(
      hooksText(`
        beforeTool: () => new (class { get skip() { return true } get reason() { return 'no' } })(),
        beforeRun: () => Object.defineProperty({}, 'stop', { value: true }),
        afterTool: () => ({ policy: new (class { get enabled() { return false } })() }),
      `),
    );
    expect(await hook('beforeTool', {})).toEqual({ skip: true, reason: 'no' });
    expect(await hook('beforeRun', {})).toEqual({ stop: true });
    expect(await hook('afterTool', {})).toEqual({ policy: { enabled: false } });
  });

  it('receive a tool as a model is offered it', async () => {
    const { hook } = await openActive(hooksText(`beforeTool: ({ tool }) => tool`));
    const tool = {
      name: 'work',
      description: 'W',
      inputSchema: {},
      timeoutMs: 5,
      execute: () => 1,
    };
    expect(await hook('beforeTool', { tool })).toEqual({
      name: 'work',
      description: 'W',
      inputSchema: {},
      timeoutMs: 5,
    });
  });

  it('are called with their hooks as this, and their error is thrown here', async () => {
    const { hook } = await openActive(
      hooksText(`
        reason: 'own',
        beforeRun() { return { stop: true, reason: this.reason }; },
        afterModel() { throw Object.assign(new RangeError('out of it'), { code: 'E_OUT' }); },
        async beforeTool() { throw 'plain words'; },
        afterRun() {}`),
    );
    expect(await hook('beforeRun', {})).toEqual({ stop: true, reason: 'own' });
    const error = await hook('afterModel', {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ message: 'out of it', code: 'E_OUT' });
    expect((error as Error).stack).toContain('own-plugin');
    await expect(hook('beforeTool', {})).rejects.toBe('plain words');
    expect(await hook('afterRun', {})).toBeUndefined();
  });

  it('receive a failed run with its error and its messages', async () => {
    const { hook } = await openActive(
      hooksText(`
        afterRun({ result, snapshot }) {
          return { isError: result.error instanceof Error, message: result.error.message,
            result: result.messages.map(({ id }) => id), snapshot: snapshot.messages.length };
        }`),
    );
    const messages = createMessages('a', 'b');
    const snapshot = shareMessages(snapshotOf([]), () => messages);
    const result = shareMessages(
      { status: 'failed', error: new Error('no answer'), messages: [...messages] },
      () => messages,
    );
    expect(await hook('afterRun', { snapshot, result })).toEqual({
      isError: true,
      message: 'no answer',
      result: ['a', 'b'],
      snapshot: 2,
    });
  });

  it('see the conversation as it is at each call, whatever it was before', async () => {
    const { hook } = await openActive(
      hooksText(
        `
        beforeTool({ snapshot }) {
          kept.push(snapshot);
          const ids = snapshot.messages.map(({ id }) => id);
          snapshot.messages.length = 0;
          return ids;
        },
        afterTool: () => kept.map(({ messages }) => messages.length)`,
        'const kept = [];',
      ),
    );
    let list = createMessages('a', 'b');
    const ask = (agentId = 'main') =>
      hook('beforeTool', { snapshot: shareMessages(snapshotOf([], agentId), () => list) });
    expect(await ask()).toEqual(['a', 'b']);
    list.push(...createMessages('c'));
    expect(await ask()).toEqual(['a', 'b', 'c']);
    const others = createMessages('x');
    const own = list;
    list = others;
    expect(await ask('sub')).toEqual(['x']);
    list = own;
    expect(await ask()).toEqual(['a', 'b', 'c']);
    list = createMessages('summary');
    expect(await ask()).toEqual(['summary']);
    // Its own changes are its own, and what it has not looked at is as it was then.
    expect(await hook('afterTool', {})).toEqual([0, 0, 0, 0, 0]);
  });

  it('keep snapshots unchanged that they read later', async () => {
    const { hook } = await openActive(
      hooksText(
        `beforeTool({ snapshot }) { kept.push(snapshot); },
        afterTool: () => kept.map(({ messages }) => messages.length)`,
        'const kept = [];',
      ),
    );
    const list = createMessages('a');
    for (const id of ['b', 'c', 'd']) {
      await hook('beforeTool', { snapshot: shareMessages(snapshotOf([]), () => list) });
      list.push(...createMessages(id));
    }
    expect(await hook('afterTool', {})).toEqual([1, 2, 3]);
  });

  it('send only new messages of a conversation', async () => {
    const { hook } = await openActive(hooksText('beforeTool: () => undefined'));
    let readCount = 0;
    const watched = createMessages('a', 'b', 'c').map((message) =>
      Object.defineProperty(message, 'metadata', {
        enumerable: true,
        get() {
          readCount += 1;
          return {};
        },
      }),
    );
    const ask = () =>
      hook('beforeTool', { snapshot: shareMessages(snapshotOf([]), () => watched) });
    await ask();
    const first = readCount;
    expect(first).toBeGreaterThan(0);
    await ask();
    await ask();
    expect(readCount).toBe(first);
  });
});

describe('a request that a hook changes in a process of its own', () => {
  const tools = [
    { name: 'a', description: '', inputSchema: { type: 'object' } },
    { name: 'b', description: '', inputSchema: { type: 'object' } },
  ];
  const requestOf = () => ({
    systemPrompt: 'SYS',
    messages: createMessages('a', 'b', 'c'),
    tools: structuredClone(tools),
    options: { metadata: { sessionId: 's' } } as Record<string, unknown>,
  });

  async function change(body: string, request: ReturnType<typeof requestOf> = requestOf()) {
    const { hook } = await openActive(hooksText(`async beforeModel({ request }) { ${body} }`));
    const { messages } = request;
    const result = await hook('beforeModel', { snapshot: snapshotOf([]), request });
    return { request, result, messages };
  }

  it('is changed in the host, too, and untouched parts are the same objects', async () => {
    const { request, result, messages } = await change(`
      request.systemPrompt += '!';
      request.messages[1].content[0].text = 'changed';
      request.messages.push({ id: 'd', role: 'user', content: [], createdAt: 1 });
      request.tools = request.tools.filter(({ name }) => name !== 'a');
      request.options.temperature = 0.5;
      request.extra = new Map([[1, 2]]);`);
    expect(result).toBeUndefined();
    expect(request).toEqual({
      systemPrompt: 'SYS!',
      messages: [
        ...createMessages('a'),
        { ...createMessages('b')[0], content: [{ type: 'text', text: 'changed' }] },
        ...createMessages('c'),
        { id: 'd', role: 'user', content: [], createdAt: 1 },
      ],
      tools: [tools[1]],
      options: { metadata: { sessionId: 's' }, temperature: 0.5 },
      extra: new Map([[1, 2]]),
    });
    expect(request.messages[0]).toBe(messages[0]);
  });

  it('is left alone by a hook that only reads', async () => {
    const input = requestOf();
    const { request, messages } = await change(
      'JSON.stringify(request); request.messages.length;',
      input,
    );
    expect(request).toEqual(requestOf());
    expect(request.messages).toBe(messages);
  });

  it('is merged with the object that the hook returns', async () => {
    const { request, result } = await change(`
      request.systemPrompt = 'other';
      return { messages: request.messages.slice(1), tools: [], options: { maxTokens: 5 } };`);
    expect(result).toEqual({
      messages: createMessages('b', 'c'),
      tools: [],
      options: { maxTokens: 5 },
    });
    expect(request).toEqual({ ...requestOf(), systemPrompt: 'other' });
  });

  it('may lose fields and get invalid ones, which the host refuses', async () => {
    const { request } = await change(
      `delete request.options; request.messages = 'none'; delete request.systemPrompt;`,
    );
    expect(request).toEqual({ messages: 'none', tools });
  });

  it('is complete again the next time', async () => {
    const { hook } = await openActive(
      hooksText(`
        beforeModel({ request }) {
          const ids = request.messages.map(({ id }) => id);
          request.messages.reverse();
          return { ids, names: request.tools.map(({ name }) => name) };
        }`),
    );
    const ask = async (...ids: readonly string[]) => {
      const request = { ...requestOf(), messages: createMessages(...ids) };
      const result = await hook('beforeModel', { snapshot: snapshotOf([]), request });
      return [result, request.messages.map(({ id }) => id)];
    };
    const names = ['a', 'b'];
    expect(await ask('a', 'b')).toEqual([{ ids: ['a', 'b'], names }, ['b', 'a']]);
    expect(await ask('a', 'b', 'c')).toEqual([{ ids: ['a', 'b', 'c'], names }, ['c', 'b', 'a']]);
    expect(await ask('z', 'c')).toEqual([{ ids: ['z', 'c'], names }, ['c', 'z']]);
  });

  it('has a signal that aborts with the one here', async () => {
    const { hook } = await openActive(
      hooksText(`
        async beforeModel({ request: { signal } }) {
          return { isSignal: signal instanceof AbortSignal, aborted: signal.aborted };
        }`),
    );
    const request = { ...requestOf(), signal: AbortSignal.abort() };
    expect(await hook('beforeModel', { snapshot: snapshotOf([]), request })).toEqual({
      isSignal: true,
      aborted: true,
    });
    expect(request.signal.aborted).toBe(true);
  });
});
