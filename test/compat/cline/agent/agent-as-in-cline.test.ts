import { describe, expect, it } from 'vitest';
import { runProgram } from '../sdk-program.ts';

/** A model of the program that answers with one list of events for each request, and records requests. */
const MODEL = `
import { Agent } from 'hookline';
const record = (value) => JSON.parse(JSON.stringify(value, (key, each) => (key === 'signal' ? undefined : each)));
const createModel = (...answers) => {
  const requests = [];
  return {
    requests,
    async *stream(request) {
      requests.push(record(request));
      yield* answers[requests.length - 1] ?? [];
    },
  };
};
const call = (toolCallId, toolName, input = {}) => ({ type: 'tool-call-delta', toolCallId, toolName, input });
const CALLS = { type: 'finish', reason: 'tool-calls' };
const SAID = [
  { type: 'text-delta', text: 'ok' },
  { type: 'usage', usage: { inputTokens: 10, outputTokens: 4 } },
  { type: 'finish', reason: 'stop' },
];
const tool = (name, execute, more) => ({
  name, description: name, inputSchema: { type: 'object', properties: {} }, execute, ...more,
});
`;

async function runAgent(program: string): Promise<readonly unknown[]> {
  const { reports } = await runProgram(`${MODEL}${program}`, []);
  return reports;
}

describe('a standalone agent, as the one of @cline/agents', () => {
  it('passes results of tools as values: to the model, in its state and to restored conversations', async () => {
    const result = (toolCallId: string, toolName: string, output: unknown, isError?: true) => ({
      type: 'tool-result',
      toolCallId,
      toolName,
      output,
      ...(isError === undefined ? {} : { isError }),
    });
    const results = [
      result('c1', 'number', 3),
      result('c2', 'object', { a: 1 }),
      result('c3', 'list', [1, 'a']),
      result('c4', 'nothing', null),
      result('c5', 'fails', { error: 'bad' }, true),
      result('c6', 'image', [{ type: 'image', data: 'aGk=', mediaType: 'image/png' }]),
    ];
    const [sent, state, restored, changed] = await runAgent(`
      const tools = [
        tool('number', () => 3), tool('object', () => ({ a: 1 })), tool('list', () => [1, 'a']), tool('nothing', () => null),
        tool('fails', () => { throw new Error('bad'); }),
        tool('image', () => [{ type: 'image', data: 'aGk=', mediaType: 'image/png' }]),
      ];
      const model = createModel(tools.map(({ name }, index) => call('c' + (index + 1), name)).concat(CALLS), SAID, SAID);
      const agent = new Agent({ model, tools });
      await agent.run('go');
      const outputs = (messages) => messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool-result'));
      report(outputs(model.requests[1].messages));
      report(outputs(agent.snapshot().messages));
      const other = createModel(SAID);
      const second = new Agent({ model: other, initialMessages: record(agent.snapshot().messages) });
      await second.run('and now?');
      report(outputs(other.requests[0].messages));
      const third = createModel(SAID);
      const hooks = { beforeModel: ({ request }) => { request.messages.at(-1).content[0].text = 'changed'; } };
      await new Agent({ model: third, hooks, initialMessages: agent.snapshot().messages }).run('and now?');
      report([outputs(third.requests[0].messages), third.requests[0].messages.at(-1).content]);
      process.exit();
    `);
    expect(sent).toEqual(results);
    expect(state).toEqual(results);
    expect(restored).toEqual(results);
    expect(changed).toEqual([results, [{ type: 'text', text: 'changed' }]]);
  });

  it('keeps ids, times, metadata and parts of messages that the program has given', async () => {
    const [sent, state, mixed] = await runAgent(`
      const initialMessages = [
        { id: 'i1', role: 'user', createdAt: 7, content: [{ type: 'text', text: 'hi' }], metadata: { a: 1 } },
        { id: 'i2', role: 'assistant', createdAt: 8, content: [{ type: 'text', text: 'ho' }], modelInfo: { id: 'q', provider: 'w' } },
      ];
      const prompt = {
        id: 'u1', role: 'user', createdAt: 9, metadata: { k: 1 },
        content: [
          { type: 'image', image: 'aGk=', mediaType: 'image/png' },
          { type: 'text', text: 'look' },
          { type: 'file', path: 'a.txt', content: 'A' },
        ],
      };
      const model = createModel(SAID, SAID);
      const agent = new Agent({ model, initialMessages });
      await agent.run(prompt);
      report(model.requests[0].messages);
      report(agent.snapshot().messages.slice(0, 3));
      await agent.run('more');
      report(model.requests[1].messages.map(({ id, createdAt }) => [id, createdAt > 0]));
      process.exit();
    `);
    const given = [
      {
        id: 'i1',
        role: 'user',
        createdAt: 7,
        content: [{ type: 'text', text: 'hi' }],
        metadata: { a: 1 },
      },
      {
        id: 'i2',
        role: 'assistant',
        createdAt: 8,
        content: [{ type: 'text', text: 'ho' }],
        modelInfo: { id: 'q', provider: 'w' },
      },
      {
        id: 'u1',
        role: 'user',
        createdAt: 9,
        metadata: { k: 1 },
        content: [
          { type: 'image', image: 'aGk=', mediaType: 'image/png' },
          { type: 'text', text: 'look' },
          { type: 'file', path: 'a.txt', content: 'A' },
        ],
      },
    ];
    expect(sent).toEqual(given);
    expect(state).toEqual(given);
    expect(mixed).toEqual([
      ['i1', true],
      ['i2', true],
      ['u1', true],
      [expect.any(String), true],
      [expect.any(String), true],
    ]);
  });

  it('says who it is in snapshots, requests, tools and results', async () => {
    const [idle, seenByHook, requests, context, result, state] = await runAgent(`
      const model = createModel([call('c1', 'look'), CALLS], SAID);
      let context;
      const look = tool('look', (_input, { signal, emitUpdate, snapshot, ...others }) => void (context = others));
      const options = [];
      const agent = new Agent({
        model,
        tools: [look],
        agentId: 'me', agentRole: 'finder', conversationId: 'talk', sessionId: 'task', parentAgentId: 'boss',
        distinctId: 'd', clientName: 'app', clientVersion: '1', toolContextMetadata: { x: 1 },
        messageModelInfo: { id: 'big', provider: 'home', family: 'f' },
        modelOptions: { temperature: 0.5, own: true },
        hooks: {
          beforeModel({ request }) {
            options.push(record(request.options));
            return { options: { other: 2, metadata: { more: 3 } } };
          },
        },
      });
      const { messages: _none, usage: _usage, ...idle } = agent.snapshot();
      report(idle);
      const result = await agent.run('go');
      report(options[0]);
      report(model.requests.map(({ options }) => options));
      report(context);
      report({ ...result, messages: result.messages.map(({ modelInfo }) => modelInfo ?? null) });
      const { messages: _messages, usage: _used, ...state } = agent.snapshot();
      report(state);
      process.exit();
    `);
    const ids = {
      agentId: 'me',
      agentRole: 'finder',
      parentAgentId: 'boss',
      conversationId: 'talk',
    };
    expect(idle).toEqual({ ...ids, status: 'idle', iteration: 0, pendingToolCalls: [] });
    const runId = expect.any(String);
    const metadata = {
      distinctId: 'd',
      clientName: 'app',
      clientVersion: '1',
      sessionId: 'task',
      agentId: 'me',
      conversationId: 'talk',
      runId,
      iteration: 1,
    };
    const own = { temperature: 0.5, own: true };
    expect(seenByHook).toEqual({ ...own, metadata });
    const changed = { ...own, other: 2 };
    expect(requests).toEqual([
      { ...changed, metadata: { ...metadata, more: 3 } },
      { ...changed, metadata: { ...metadata, iteration: 2, more: 3 } },
    ]);
    expect(context).toMatchObject({
      sessionId: 'task',
      agentId: 'me',
      conversationId: 'talk',
      runId,
      iteration: 1,
      toolCallId: 'c1',
      metadata: { x: 1 },
    });
    const modelInfo = { id: 'big', provider: 'home', family: 'f' };
    expect(result).toMatchObject({
      agentId: 'me',
      agentRole: 'finder',
      messages: [null, modelInfo, null, modelInfo],
    });
    expect(state).toEqual({
      ...ids,
      runId,
      status: 'completed',
      iteration: 2,
      pendingToolCalls: [],
    });
  });

  it('runs calls at once where the program wants it, and its tools do not forbid it', async () => {
    const reports = await runAgent(`
      const measure = async (config, more) => {
        let running = 0;
        let most = 0;
        const meet = async () => {
          running += 1;
          most = Math.max(most, running);
          for (let turn = 0; turn < 200 && running < 2; turn += 1) await new Promise(setImmediate);
          running -= 1;
        };
        const model = createModel([call('c1', 'one'), call('c2', 'two'), CALLS], SAID);
        await new Agent({ model, ...config, tools: [tool('one', meet, more), tool('two', meet, more)] }).run('go');
        report(most);
      };
      await measure({});
      await measure({ toolExecution: 'parallel' });
      await measure({ toolExecution: 'parallel' }, { executionMode: 'sequential' });
      process.exit();
    `);
    expect(reports).toEqual([1, 2, 1]);
  });

  it('reads deltas of a call, and whole inputs after them', async () => {
    const reports = await runAgent(`
      const delta = (more) => ({ type: 'tool-call-delta', toolCallId: 'c', toolName: 't', ...more });
      for (const deltas of [
        [delta({ inputText: '{"a":' }), delta({ inputText: '1}' })],
        [delta({ inputText: '{"a":' }), delta({ inputText: '1}' }), delta({ input: { a: 1 } })],
        [delta({ inputText: '{"a":1}' }), delta({ inputText: '{"a":1}' })],
        [delta({ inputText: '{"a"' }), delta({ inputText: '{"a":1}' })],
        [delta({ inputText: '{"a":' }), delta({ inputText: '{"a":1}}' })],
        [delta({ input: { a: 1 } }), delta({ input: { a: 2 } })],
        [delta({ input: { a: 1 }, inputText: '{"a":7}' })],
        [delta({ input: '{"a":1}' })],
        [delta({ input: { a: 1 }, metadata: { signature: 'x' } })],
      ]) {
        const inputs = [];
        const model = createModel([...deltas, CALLS], SAID);
        const result = await new Agent({ model, tools: [tool('t', (input) => void inputs.push(input))] }).run('go');
        report([inputs, result.messages[1].content[0].metadata ?? null]);
      }
      process.exit();
    `);
    expect(reports).toEqual([
      [[{ a: 1 }], null],
      [[{ a: 1 }], null],
      [[{ a: 1 }], null],
      [[{ a: 1 }], null],
      [[{ a: { a: 1 } }], null],
      [[{ a: 2 }], null],
      [[{ a: 1 }], null],
      [[{ a: 1 }], null],
      [[{ a: 1 }], { signature: 'x' }],
    ]);
  });

  it('fails when the answer is empty', async () => {
    const [result, count] = await runAgent(`
      const model = createModel([{ type: 'finish', reason: 'stop' }], SAID);
      const { status, error } = await new Agent({ model }).run('go');
      report({ status, error: error?.message });
      report(model.requests.length);
      process.exit();
    `);
    expect(result).toEqual({ status: 'failed', error: expect.stringContaining('empty answer') });
    expect(count).toBe(1);
  });

  it('reports calls that the model’s service made, and does not make them again', async () => {
    const [result, events, answer] = await runAgent(`
      const shared = { toolCallId: 'p', toolName: 'web_search', execution: 'provider' };
      const model = createModel([
        { type: 'tool-call-delta', ...shared, input: { q: 1 } },
        { type: 'tool-result', ...shared, input: { q: 1 }, output: { r: 1 } },
        { type: 'text-delta', text: 'found' },
        { type: 'finish', reason: 'stop' },
      ]);
      const events = [];
      const agent = new Agent({ model });
      agent.subscribe(({ type, toolCall, message }) => {
        if (type.startsWith('tool-')) events.push({ type, toolCall, ...(message && { content: message.content }) });
      });
      const { status, iterations, outputText, messages } = await agent.run('go');
      report({ status, iterations, outputText });
      report(events);
      report({ content: messages.at(-1).content, metadata: messages.at(-1).metadata });
      process.exit();
    `);
    expect(result).toEqual({ status: 'completed', iterations: 1, outputText: 'found' });
    const shared = { toolCallId: 'p', toolName: 'web_search', execution: 'provider' };
    const toolCall = { type: 'tool-call', ...shared, input: { q: 1 } };
    expect(events).toEqual([
      { type: 'tool-started', toolCall },
      {
        type: 'tool-finished',
        toolCall,
        content: [{ type: 'tool-result', ...shared, output: { r: 1 } }],
      },
    ]);
    expect(answer).toEqual({
      content: [{ type: 'text', text: 'found' }],
      metadata: { modelToolActivities: [{ ...shared, input: { q: 1 }, output: { r: 1 } }] },
    });
  });

  it('keeps media that the model made, and sends them back to it', async () => {
    const media = {
      id: 'm1',
      modality: 'image',
      mediaType: 'image/png',
      source: { type: 'base64', data: 'aGk=' },
    };
    const [first, second, events, sent] = await runAgent(`
      const media = ${JSON.stringify(media)};
      const model = createModel(
        [{ type: 'media', media }, { type: 'text-delta', text: 'here' }, { type: 'finish', reason: 'stop' }],
        [{ type: 'media', media }, { type: 'finish', reason: 'stop' }],
        SAID,
      );
      const agent = new Agent({ model });
      const events = [];
      agent.subscribe(({ type, media }) => void (type === 'assistant-media' && events.push(media)));
      for (const prompt of ['draw', 'again']) {
        const { outputText, messages } = await agent.run(prompt);
        report([outputText, messages.at(-1).content]);
      }
      report(events);
      await agent.run('thanks');
      report(model.requests[2].messages.filter(({ role }) => role === 'assistant').map(({ content }) => content));
      process.exit();
    `);
    const part = { type: 'media', media };
    expect(first).toEqual(['here', [part, { type: 'text', text: 'here' }]]);
    expect(second).toEqual(['', [part]]);
    expect(events).toEqual([media, media]);
    expect(sent).toEqual([[part, { type: 'text', text: 'here' }], [part]]);
  });

  it('does not repeat a request whose answer ended with an error, unless it may be repeated', async () => {
    const reports = await runAgent(`
      for (const finish of [
        { error: 'overloaded, try later 529' }, { error: 'boom' }, {}, { reason: 'aborted' },
        { error: 'key', errorClass: 'auth' }, { error: 'busy', errorRetryable: true },
      ]) {
        const model = createModel([{ type: 'finish', reason: 'error', ...finish }], SAID);
        const events = [];
        const agent = new Agent({ model });
        agent.subscribe(({ type, errorClass }) => void events.push(errorClass === undefined ? type : type + ' ' + errorClass));
        const { status, error } = await agent.run('go');
        report([status, error?.message ?? null, model.requests.length, events.at(-1)]);
      }
      let requests = 0;
      const throwing = { async *stream() { requests += 1; throw new Error('fetch failed'); } };
      const { status, error } = await new Agent({ model: throwing }).run('go');
      report([status, error.message, requests]);
      process.exit();
    `);
    expect(reports).toEqual([
      ['failed', 'overloaded, try later 529', 1, 'run-failed unknown'],
      ['failed', 'boom', 1, 'run-failed unknown'],
      ['failed', 'Model stream failed', 1, 'run-failed unknown'],
      ['failed', 'Run aborted', 1, 'run-failed unknown'],
      ['failed', 'key', 1, 'run-failed auth'],
      ['completed', null, 2, 'run-finished'],
      ['failed', 'fetch failed', 1],
    ]);
  });

  it('announces the prompt as a message before the first turn', async () => {
    const [events] = await runAgent(`
      const agent = new Agent({ model: createModel([call('c1', 't'), CALLS], SAID), tools: [tool('t', () => 1)] });
      const events = [];
      agent.subscribe(({ type, message }) => void events.push([type, message?.role ?? null]));
      await agent.run('go');
      report(events);
      process.exit();
    `);
    expect(events).toEqual([
      ['run-started', null],
      ['message-added', 'user'],
      ['turn-started', null],
      ['usage-updated', null],
      ['message-added', 'assistant'],
      ['assistant-message', 'assistant'],
      ['tool-started', null],
      ['tool-finished', 'tool'],
      ['message-added', 'tool'],
      ['turn-finished', null],
      ['turn-started', null],
      ['assistant-text-delta', null],
      ['usage-updated', null],
      ['message-added', 'assistant'],
      ['assistant-message', 'assistant'],
      ['turn-finished', null],
      ['run-finished', null],
    ]);
  });
});
