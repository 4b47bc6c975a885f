import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AgentPlugin,
  noopTelemetry,
  type Telemetry,
} from '../../../../src/plugins/contract/plugin.ts';
import { createTool } from '../../../../src/plugins/contract/tool.ts';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  type SdkFixture,
  toolPlugin,
} from '../sdk-fixture.ts';

function plugin(name: string, made: Partial<AgentPlugin>): AgentPlugin {
  return { name, manifest: { capabilities: ['tools', 'rules', 'hooks'] }, ...made };
}

const errors = (fixture: SdkFixture): readonly string[] =>
  fixture.agentEvents().flatMap((event) => (event.type === 'error' ? [event.error.message] : []));

const notices = (fixture: SdkFixture): readonly string[] =>
  fixture.agentEvents().flatMap((event) => (event.type === 'notice' ? [event.message] : []));

async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return null;
  } catch (error) {
    return error;
  }
}

describe('a plugin that cannot be used', () => {
  const bad: readonly [string, unknown, string][] = [
    [
      'has hooks without the capability',
      { name: 'bad', manifest: { capabilities: ['tools'] }, hooks: {} },
      'it has "hooks", so "hooks" must be among its capabilities',
    ],
    [
      'has a capability that there is not',
      { name: 'bad', manifest: { capabilities: ['tool'] } },
      'capability "tool" not found; did you mean "tools"?',
    ],
    ['has no manifest', { name: 'bad' }, 'expected "manifest" to be an object, found nothing'],
  ];

  it.each(bad)(
    '%s is left out, with a report, and the session starts',
    async (_what, input, problem) => {
      const fixture = await createSdkFixture([call('one'), DONE]);
      const { result, sessionId } = await fixture.start(
        { extensions: [input as AgentPlugin, toolPlugin('one', () => 'ran')] },
        { interactive: true },
      );
      expect(result?.text).toBe('Done.');
      expect(answers(fixture)).toEqual(['ran']);
      const message = `Invalid manifest for extension "bad": ${problem}`;
      expect(errors(fixture)).toEqual([`plugin bad: ${message}`]);
      expect(fixture.core.plugins(sessionId).map(({ name, state }) => [name, state])).toEqual([
        ['one-plugin', 'ready'],
        ['bad', 'failed'],
      ]);
    },
  );

  it.each(bad)('%s fails a strict start', async (_what, input, problem) => {
    const fixture = await createSdkFixture([DONE]);
    const start = fixture.start({ strictPlugins: true, extensions: [input as AgentPlugin] });
    expect(await caught(start)).toMatchObject({
      code: 'PLUGIN_INVALID',
      message: `Invalid manifest for extension "bad": ${problem}`,
    });
  });
});

describe('setup', () => {
  it('that throws leaves no tools and no hooks behind; others work', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    let hookCount = 0;
    await fixture.start({
      extensions: [
        plugin('bad', {
          setup(api) {
            api.registerTool(
              createTool({ name: 'lost', description: '', inputSchema: {}, execute: () => 1 }),
            );
            throw new TypeError('broken');
          },
          hooks: { beforeRun: () => void (hookCount += 1) },
        }),
        toolPlugin('one', () => 'ran'),
      ],
    });
    expect(hookCount).toBe(0);
    expect(fixture.service.requests()[0]?.tools.slice(0, 2)).toEqual(['one', 'read_files']);
    expect(errors(fixture)).toEqual([
      'plugin bad: its setup failed, so nothing of it is used: broken',
    ]);
  });

  it('that throws fails the start with hookErrorMode "throw"', async () => {
    const fixture = await createSdkFixture([DONE]);
    const rule = plugin('ruler', {
      manifest: { capabilities: ['tools'] },
      setup: (api) => api.registerRule({ id: 'r', content: 'R' }),
    });
    expect(
      await caught(fixture.start({ hookErrorMode: 'throw', extensions: [rule] })),
    ).toMatchObject({
      message: 'Invalid setup for extension "ruler": registerRule requires the "rules" capability',
    });
  });

  it('is not called of a disabled plugin, whose hooks are off, too', async () => {
    const fixture = await createSdkFixture([DONE]);
    const records: string[] = [];
    await fixture.start({
      extensions: [
        plugin('off', {
          disabled: true,
          setup: () => void records.push('setup'),
          hooks: { beforeRun: () => void records.push('beforeRun') },
        }),
      ],
    });
    expect(records).toEqual([]);
  });

  it('registers without a capability where Cline lets it, with a warning; not when strict', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const sloppy = { ...toolPlugin('one', () => 'ran'), manifest: { capabilities: ['hooks'] } };
    await fixture.start({ extensions: [sloppy as AgentPlugin] });
    expect(answers(fixture)).toEqual(['ran']);
    expect(notices(fixture)).toEqual([
      'plugin one-plugin: it declares the capability "hooks" and has no hooks',
      'plugin one-plugin: registerTool requires the "tools" capability, which its manifest does not declare; it is registered anyway',
    ]);
    const strict = fixture.start({ strictPlugins: true, extensions: [sloppy as AgentPlugin] });
    expect(await caught(strict)).toMatchObject({ code: 'PLUGIN_INVALID' });
  });

  it('is the only time to register', async () => {
    const fixture = await createSdkFixture([DONE]);
    let late: unknown;
    await fixture.start({
      extensions: [
        plugin('late', {
          setup(api) {
            this.hooks = {
              beforeRun() {
                try {
                  api.registerRule({ id: 'x', content: 'x' });
                } catch (error) {
                  late = error;
                }
              },
            };
          },
        }),
      ],
    });
    expect(late).toMatchObject({ code: 'PLUGIN_LATE' });
  });

  it('receives its session, workspace, client and logger, and is disposed at the end', async () => {
    const log: unknown[] = [];
    const logger = { debug: () => undefined, log: (text: string) => void log.push(text) };
    const fixture = await createSdkFixture([DONE], { clientName: 'my-app', logger });
    let context: unknown;
    const { sessionId } = await fixture.start({
      extensionContext: { workspace: { rootPath: fixture.workspace, cwd: fixture.workspace } },
      extensions: [
        plugin('curious', {
          setup(_api, ctx) {
            const { logger: input, emitEvent, onDispose, telemetry, ...rest } = ctx;
            context = rest;
            input?.log('set up');
            onDispose?.(() => log.push('disposed'));
          },
        }),
      ],
    });
    expect(context).toEqual({
      session: { sessionId },
      client: { name: 'my-app' },
      user: { distinctId: expect.any(String) },
      workspaceInfo: { rootPath: fixture.workspace, hint: 'workspace', cwd: fixture.workspace },
      cwd: fixture.workspace,
    });
    expect(Object.keys(Object(context))).toEqual(
      expect.arrayContaining(['session', 'client', 'user', 'workspaceInfo', 'automation']),
    );
    expect(log.filter((line) => line === 'set up' || line === 'disposed')).toEqual([
      'set up',
      'disposed',
    ]);
  });

  it('receives the telemetry of the program, or else one that sends nothing', async () => {
    const own: Telemetry = { ...noopTelemetry, isEnabled: () => true };
    const enabled: unknown[] = [];
    const extensions = [
      plugin('counting', { setup: (_api, ctx) => void enabled.push(ctx.telemetry?.isEnabled()) }),
    ];
    await (await createSdkFixture([DONE])).start({ extensions });
    await (await createSdkFixture([DONE], { telemetry: own })).start({ extensions });
    await (await createSdkFixture([DONE])).start({ extensions, telemetry: own });
    expect(enabled).toEqual([false, true, true]);
  });

  it('keeps the first of two plugins with one name, and says so', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    await fixture.start({
      extensions: [toolPlugin('one', () => 'first'), toolPlugin('one', () => 'second')],
    });
    expect(answers(fixture)).toEqual(['first']);
    expect(notices(fixture)).toEqual([
      'plugin one-plugin: another plugin of the name "one-plugin" comes first, so this one is not used',
    ]);
  });
});

describe('tools of plugins', () => {
  const results: readonly [string, unknown, string][] = [
    ['undefined', undefined, '(no output)'],
    ['null', null, 'null'],
    ['a number', 5, '5'],
    ['a text', 's', 's'],
    ['a list', [1, 'a'], '[1,"a"]'],
    ['an object', { a: 1 }, '{"a":1}'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['a big integer', 10n, '"10"'],
    ['a map', new Map([[1, 2]]), '{}'],
    [
      'text blocks',
      [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
      'one\ntwo',
    ],
  ];

  it.each(results)('may return %s', async (_what, value, text) => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const { result } = await fixture.start({ extensions: [toolPlugin('one', () => value)] });
    expect(answers(fixture)).toEqual([text]);
    expect(result?.text).toBe('Done.');
  });

  it('may return a circular object', async () => {
    const circle: Record<string, unknown> = { a: 1 };
    circle['self'] = circle;
    const fixture = await createSdkFixture([call('one'), DONE]);
    await fixture.start({ extensions: [toolPlugin('one', () => circle)] });
    expect(answers(fixture)).toEqual(['{"a":1,"self":"[circular]"}']);
  });

  it('fail by value: a throw is the result', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const { result } = await fixture.start({
      extensions: [
        toolPlugin('one', () => {
          throw new TypeError('broken');
        }),
      ],
    });
    expect(answers(fixture)).toEqual(['{"error":"broken"}']);
    expect(result?.toolCalls).toMatchObject([{ name: 'one', error: '{"error":"broken"}' }]);
  });

  it('get only input that fits their schema; texts of lists are read', async () => {
    const inputSchema = {
      type: 'object',
      properties: { list: { type: 'array' }, name: { type: 'string' } },
      required: ['list'],
    };
    const fixture = await createSdkFixture([call('one'), call('one', { list: '[1,2]' }), DONE]);
    await fixture.start({ extensions: [toolPlugin('one', (input) => input, { inputSchema })] });
    expect(answers(fixture)).toEqual([
      "The input of one does not fit its schema: input must have required property 'list'. It needs list.",
      '{"list":[1,2]}',
    ]);
  });

  it('may have a schema of zod, which checks and changes the input', async () => {
    const tool = createTool({
      name: 'one',
      description: 'one',
      inputSchema: z.object({ count: z.number().default(3), name: z.string() }),
      execute: (input) => input,
    });
    expect(tool.inputSchema).toMatchObject({ type: 'object', required: ['name'] });
    const fixture = await createSdkFixture([
      call('one', { name: 1 }),
      call('one', { name: 'x' }),
      DONE,
    ]);
    await fixture.start({ extraTools: [tool] });
    expect(answers(fixture)).toEqual([
      'The input of one does not fit its schema: name: Invalid input: expected string, received number. It needs name.',
      '{"count":3,"name":"x"}',
    ]);
  });

  it('may have a schema of zod, where texts of lists are read, too', async () => {
    const fixture = await createSdkFixture([call('many', { list: '["a"]' }), DONE]);
    const many = createTool({
      name: 'many',
      description: 'takes many',
      inputSchema: z.object({ list: z.array(z.string()) }),
      execute: (input) => input,
    });
    await fixture.start({ extraTools: [many] });
    expect(answers(fixture)).toEqual(['{"list":["a"]}']);
  });

  it('get the error of their schema for a wrong input', async () => {
    const fixture = await createSdkFixture([call('data', { metadata: 5 }), DONE]);
    const properties = { metadata: { type: 'string' }, data: { type: 'string' } };
    const inputSchema = { type: 'object', properties, required: ['metadata', 'data'] };
    await fixture.start({ extensions: [toolPlugin('data', () => 'ran', { inputSchema })] });
    expect(answers(fixture)).toEqual([
      "The input of data does not fit its schema: input must have required property 'data', input/metadata must be string. It needs metadata, data.",
    ]);
  });

  it('may have patterns, none of which can hang the host', async () => {
    const slow = `${'a'.repeat(40)}!`;
    const fixture = await createSdkFixture([
      call('slow', { one: slow, two: 'b' }),
      call('slow', { one: 'aaa', two: 'b' }),
      DONE,
    ]);
    const properties = {
      one: { type: 'string', pattern: '^(a+)+$' },
      two: { type: 'string', pattern: '^(?!b)' },
    };
    const inputSchema = { type: 'object', properties };
    await fixture.start({ extensions: [toolPlugin('slow', () => 'ran', { inputSchema })] });
    expect(answers(fixture)).toEqual([
      'The input of slow does not fit its schema: input/one must match pattern "^(a+)+$".',
      'ran',
    ]);
    expect(notices(fixture)).toEqual([
      expect.stringMatching(
        /^plugin slow-plugin: the tool slow: the pattern \^\(\?!b\) is not checked: /,
      ),
    ]);
  });

  it('end when their time is over', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const forever = toolPlugin('one', () => new Promise(() => undefined), { timeoutMs: 20 });
    await fixture.start({ extensions: [forever] });
    expect(answers(fixture)).toEqual(['{"error":"one did not end within 20 ms"}']);
  });

  it('are retried only for errors that ask for it', async () => {
    let tried = 0;
    const fixture = await createSdkFixture([call('one'), DONE]);
    const flaky = toolPlugin(
      'one',
      () => {
        tried += 1;
        if (tried < 3) throw Object.assign(new TypeError('busy'), { retryable: true });
        return 'ran';
      },
      { maxRetries: 3 },
    );
    await fixture.start({ extensions: [flaky] });
    expect([tried, answers(fixture)]).toEqual([3, ['ran']]);
  });

  it('may complete the run, with their output as the last text', async () => {
    const fixture = await createSdkFixture([
      {
        tools: [
          { name: 'finish', input: {} },
          { name: 'other', input: {} },
        ],
      },
      DONE,
    ]);
    const ranTools: string[] = [];
    const { result } = await fixture.start({
      extensions: [
        toolPlugin('finish', () => ({ done: true }), { lifecycle: { completesRun: true } }),
        toolPlugin('other', () => void ranTools.push('other')),
      ],
    });
    expect(ranTools).toEqual(['other']);
    expect(result).toMatchObject({
      text: '{"done":true}',
      finishReason: 'completed',
      iterations: 1,
    });
  });

  it('receive the context of their call, and report progress', async () => {
    let toolContext: unknown;
    const reporter: AgentPlugin = {
      name: 'reporter',
      manifest: { capabilities: ['tools'] },
      setup(api) {
        api.registerTool({
          name: 'report',
          description: '',
          inputSchema: {},
          execute(_input, context) {
            const { signal, emitUpdate, snapshot, runId, ...rest } = context;
            toolContext = { ...rest, isSignal: signal instanceof AbortSignal, run: typeof runId };
            emitUpdate?.({ percent: 50 });
            return snapshot?.status;
          },
        });
      },
    };
    const fixture = await createSdkFixture([call('report'), DONE]);
    const { sessionId } = await fixture.start({ extensions: [reporter] });
    expect(toolContext).toEqual({
      sessionId,
      agentId: sessionId,
      conversationId: sessionId,
      iteration: 1,
      toolCallId: 'call_0_0',
      cwd: fixture.workspace,
      metadata: { sessionId, modelSupportsImages: true },
      isSignal: true,
      run: 'string',
    });
    expect(answers(fixture)).toEqual(['running']);
    expect(fixture.agentEvents().filter(({ type }) => type === 'content_update')).toMatchObject([
      { toolCallId: 'call_0_0', update: { percent: 50 } },
    ]);
  });

  it('lose their name to a built-in, and to a later plugin; both are reported', async () => {
    const fixture = await createSdkFixture([call('dup'), DONE]);
    await fixture.start({
      extensions: [
        toolPlugin('read_files', () => 'mine'),
        toolPlugin('dup', () => 'first'),
        { ...toolPlugin('dup', () => 'second'), name: 'other-plugin' },
      ],
    });
    expect(answers(fixture)).toEqual(['second']);
    expect(fixture.service.requests()[0]?.tools).toEqual([
      'dup',
      'read_files',
      'search_codebase',
      'run_commands',
      'fetch_web_content',
      'editor',
      'apply_patch',
      'skills',
    ]);
    expect(notices(fixture)).toEqual([
      'plugin other-plugin: the tool dup was registered before; this one takes its place',
      "plugin read_files-plugin: the tool read_files is left out: one of Hookline's own has this name; give it another one",
    ]);
  });

  it('need no schema, but a name that services accept', async () => {
    const bare = { inputSchema: undefined };
    const fixture = await createSdkFixture([call('one', { any: 1 }), DONE]);
    await fixture.start({
      extensions: [toolPlugin('one', (input) => input, bare), toolPlugin('two words', () => 1)],
    });
    expect(answers(fixture)).toEqual(['{"any":1}']);
    expect(fixture.service.requests()[0]?.tools).not.toContain('two words');
    expect(notices(fixture)).toEqual([
      'plugin two words-plugin: the tool "two words" is left out: a name has letters, digits, "_" and "-", at most 64',
    ]);
  });

  it('stay when enableTools is off', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    await fixture.start({ enableTools: false, extensions: [toolPlugin('one', () => 'ran')] });
    expect(fixture.service.requests()[0]?.tools).toEqual(['one']);
    expect(answers(fixture)).toEqual(['ran']);
  });
});

it('rules are part of the system prompt, evaluated for each run; one that fails is left out', async () => {
  let count = 0;
  const ruler: AgentPlugin = {
    name: 'ruler',
    manifest: { capabilities: ['rules'] },
    setup(api) {
      api.registerRule({ id: 'a', content: '  R1 ' });
      api.registerRule({ id: 'b', content: async () => `R2 ${(count += 1)}` });
      api.registerRule({ id: 'c', content: 'hidden', whenToolAvailable: 'zz' });
      api.registerRule({ id: 'd', content: 'edit well', whenToolAvailable: 'editor' });
      api.registerRule({
        id: 'e',
        content: () => {
          throw new TypeError('broken');
        },
      });
      api.registerRule({ id: 'a', content: 'again' });
    },
  };
  const fixture = await createSdkFixture([DONE, DONE]);
  const { sessionId } = await fixture.start({ extensions: [ruler] }, { interactive: true });
  await fixture.core.send({ sessionId, prompt: 'again' });
  expect(fixture.service.requests().map(({ system }) => system)).toEqual([
    'SYS\n\nR1\n\nR2 1\n\nedit well\n\nagain',
    'SYS\n\nR1\n\nR2 2\n\nedit well\n\nagain',
  ]);
  expect(notices(fixture)[0]).toBe('plugin ruler: the rule e is left out: broken');
});

describe('message builders', () => {
  function builder(name: string, build: (messages: never[]) => unknown): AgentPlugin {
    return {
      name,
      manifest: { capabilities: ['messageBuilders'] },
      setup: (api) => api.registerMessageBuilder({ name, build: build as never }),
    };
  }

  it('run once for each request, in order; the transcript stays as it was', async () => {
    const order: string[] = [];
    const fixture = await createSdkFixture([DONE]);
    const add = (name: string) =>
      builder(name, (messages) => {
        order.push(name);
        return [...messages, { role: 'user', content: `from ${name}` }];
      });
    const { sessionId } = await fixture.start({ extensions: [add('b1'), add('b2')] });
    expect(order).toEqual(['b1', 'b2']);
    expect(
      fixture.service
        .requests()[0]
        ?.messages.map(({ text }) => text)
        .join('|'),
    ).toBe('go\nfrom b1\nfrom b2');
    expect(await fixture.core.readMessages(sessionId)).toMatchObject([
      { id: 'message-0', role: 'user', content: [{ type: 'text', text: 'go' }] },
      { id: 'message-1', role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    ]);
  });

  it('that throw or return nothing usable are passed over, and reported', async () => {
    const fixture = await createSdkFixture([DONE]);
    await fixture.start({
      extensions: [
        builder('throws', () => {
          throw new TypeError('broken');
        }),
        builder('nothing', () => undefined),
        builder('empty', () => []),
        builder('odd', () => [{ text: 'no role' }]),
      ],
    });
    expect(fixture.service.requests()[0]?.messages.map(({ text }) => text)).toEqual(['go']);
    expect(notices(fixture)).toEqual([
      'plugin throws: the message builder throws is passed over: broken',
      'plugin nothing: the message builder nothing is passed over: it did not give a list of messages',
      'plugin empty: the message builder empty is passed over: it gave no message at all',
      'plugin odd: the message builder odd is passed over: message 1 of what it gave has no role and content',
    ]);
  });
});

describe('commands', () => {
  const commander: AgentPlugin = {
    name: 'commander',
    manifest: { capabilities: ['commands'] },
    setup(api) {
      api.registerCommand({ name: '/echo', handler: (input) => `you said ${input}` });
      api.registerCommand({
        name: 'plan:do',
        handler: (input) => ({ reply: 'I do', submitPrompt: `do ${input}` }),
      });
    },
  };

  it('answer without the model, or give the prompt that is run', async () => {
    const fixture = await createSdkFixture([DONE]);
    const { sessionId, result } = await fixture.start(
      { extensions: [commander] },
      { interactive: true, prompt: '/ECHO  a   b' },
    );
    expect(result).toMatchObject({ text: 'you said a b', iterations: 0 });
    const second = await fixture.core.send({ sessionId, prompt: '/plan:do it' });
    expect(second?.text).toBe('Done.');
    expect(fixture.service.requests().map(({ messages }) => messages.at(-1)?.text)).toEqual([
      'do it',
    ]);
  });
});

describe('plugins send messages to their session', () => {
  it('steer the run under way, through ctx and through the global that some use', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    let emit: ((name: string, payload: unknown) => void) | undefined;
    const steering: AgentPlugin = {
      name: 'steering',
      manifest: { capabilities: ['tools'] },
      setup(api, ctx) {
        emit = ctx.emitEvent;
        api.registerTool({
          name: 'one',
          description: '',
          inputSchema: {},
          execute(_input, { sessionId }) {
            emit?.('steer_message', { prompt: 'go left' });
            const host: unknown = Reflect.get(globalThis, '__clinePluginHost');
            Reflect.apply(Reflect.get(Object(host), 'emitEvent'), host, [
              'steer_message',
              { sessionId, prompt: 'then right' },
            ]);
            return 'ran';
          },
        });
      },
    };
    await fixture.start({ extensions: [steering] });
    const sentTexts = fixture.service
      .requests()[1]
      ?.messages.map(({ text }) => text)
      .join('|');
    expect(sentTexts).toContain('go left');
    expect(sentTexts).toContain('then right');
  });

  it('queue a further prompt, which a headless run does before it ends', async () => {
    const fixture = await createSdkFixture([{ text: 'One.' }, { text: 'Two.' }]);
    let isAsked = false;
    const looping: AgentPlugin = {
      name: 'looping',
      manifest: { capabilities: ['hooks'] },
      setup(_api, ctx) {
        this.hooks = {
          afterRun() {
            if (!isAsked) ctx.emitEvent?.('queue_message', { prompt: 'once more' });
            isAsked = true;
          },
        };
      },
    };
    const { result } = await fixture.start({ extensions: [looping, hooksOf({})] });
    expect(result?.text).toBe('One.');
    expect(fixture.service.requests()[1]?.messages.at(-1)?.text).toBe('once more');
  });
});
