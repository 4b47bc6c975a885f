import { describe, expect, test } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import type { AgentRuntimeHooks } from '../../../../src/plugins/contract/runtime-hooks.ts';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  toolPlugin,
  callsOf,
  errorsIn,
  noticesIn,
  sentIn,
} from '../sdk-fixture.ts';

/** Tools that write down when they run, and a plugin that writes down how runs end. */
function witnesses() {
  const ranHooks: string[] = [];
  const ends: string[] = [];
  const tool = (name: string): AgentPlugin =>
    toolPlugin(name, () => {
      ranHooks.push(name);
      return `result of ${name}`;
    });
  const end = hooksOf({ afterRun: ({ result }) => void ends.push(result.status) }, 'end');
  return { ran: ranHooks, ends, extensions: [tool('one'), tool('two'), end] };
}

function onSecond(answer: object): Partial<AgentRuntimeHooks> {
  return { beforeTool: ({ toolCall }) => (toolCall.toolName === 'two' ? answer : undefined) };
}

test('B1 beforeTool stop on the second of two calls aborts; the reason is reported, and no call is unanswered', async () => {
  const { ran, ends, extensions } = witnesses();
  const fixture = await createSdkFixture([callsOf('one', 'two'), DONE]);
  const { result, sessionId } = await fixture.start({
    extensions: [...extensions, hooksOf(onSecond({ stop: true, reason: 'enough' }))],
  });
  const text = JSON.stringify(await fixture.core.readMessages(sessionId));
  expect({
    // All calls of the turn are checked before the first one runs.
    ran,
    ends,
    finish: result?.finishReason,
    reason: result?.stopReason,
    text: result?.text,
    requests: fixture.service.requests().length,
    isSaid: text.includes('enough'),
  }).toEqual({
    ran: [],
    ends: ['aborted'],
    finish: 'aborted',
    reason: 'enough',
    text: '',
    requests: 1,
    isSaid: true,
  });
});

test('B2 beforeTool skip on the second of two calls lets the first run, and the run goes on', async () => {
  const { ran, ends, extensions } = witnesses();
  const fixture = await createSdkFixture([callsOf('one', 'two'), DONE]);
  const { result } = await fixture.start({
    extensions: [...extensions, hooksOf(onSecond({ skip: true, reason: 'not two' }))],
  });
  expect([ran, ends, result?.finishReason, result?.text]).toEqual([
    ['one'],
    ['completed'],
    'completed',
    'Done.',
  ]);
  expect(answers(fixture)).toEqual(['result of one', '{"error":"not two"}']);
  expect(result?.toolCalls.map(({ name, error }) => [name, error !== undefined])).toEqual([
    ['one', false],
    ['two', true],
  ]);
});

test('B3 afterTool stop aborts after the first tool, whose result is recorded', async () => {
  const { ran, ends, extensions } = witnesses();
  const fixture = await createSdkFixture([callsOf('one', 'two'), DONE]);
  const { result, sessionId } = await fixture.start({
    extensions: [...extensions, hooksOf({ afterTool: () => ({ stop: true, reason: 'enough' }) })],
  });
  expect([ran, ends, result?.finishReason, result?.stopReason]).toEqual([
    ['one'],
    ['aborted'],
    'aborted',
    'enough',
  ]);
  const text = JSON.stringify(await fixture.core.readMessages(sessionId));
  expect(text).toContain('result of one');
});

test('B4 beforeRun stop aborts before any request; afterRun is called, and the only event is the end', async () => {
  const { ends, extensions } = witnesses();
  const events: string[] = [];
  const fixture = await createSdkFixture([DONE]);
  const { result } = await fixture.start({
    extensions: [
      ...extensions,
      hooksOf({
        beforeRun: () => ({ stop: true, reason: 'not now' }),
        onEvent: ({ type }) => void events.push(type),
      }),
    ],
  });
  expect([result?.finishReason, result?.iterations, result?.stopReason]).toEqual([
    'aborted',
    0,
    'not now',
  ]);
  expect([ends, events, fixture.service.requests()]).toEqual([['aborted'], ['run-finished'], []]);
});

test('B5 afterModel stop aborts, and nothing of the answer is run', async () => {
  const { ran, ends, extensions } = witnesses();
  const fixture = await createSdkFixture([callsOf('one'), DONE]);
  const { result } = await fixture.start({
    extensions: [...extensions, hooksOf({ afterModel: () => ({ stop: true, reason: 'seen' }) })],
  });
  expect([ran, ends, result?.finishReason, result?.stopReason]).toEqual([
    [],
    ['aborted'],
    'aborted',
    'seen',
  ]);
});

test('B6 beforeModel stop aborts in the first turn, without a request', async () => {
  const { ends, extensions } = witnesses();
  const fixture = await createSdkFixture([DONE]);
  const { result } = await fixture.start({
    extensions: [...extensions, hooksOf({ beforeModel: () => ({ stop: true, reason: 'dear' }) })],
  });
  expect([result?.finishReason, result?.iterations, ends, fixture.service.requests()]).toEqual([
    'aborted',
    1,
    ['aborted'],
    [],
  ]);
});

describe.each(['beforeTool', 'afterTool', 'onEvent', 'beforeRun'] as const)('B7 %s', (hook) => {
  const failing = hooksOf({
    [hook]: () => {
      throw new TypeError('broken');
    },
  });

  test(`B7 ${hook} that throws is reported, and the run goes on`, async () => {
    const { ran, extensions } = witnesses();
    const fixture = await createSdkFixture([callsOf('one'), DONE]);
    const { result } = await fixture.start({ extensions: [failing, ...extensions] });
    expect([ran, result?.finishReason, result?.text]).toEqual([['one'], 'completed', 'Done.']);
    expect(noticesIn(fixture)).toContain(`plugin watcher: ${hook} failed: broken`);
  });
});

test.each([
  ['beforeTool', 'PreToolUse:one hook error: broken'],
  ['beforeRun', null],
] as const)('B7 with hookErrorMode "throw" %s that throws refuses', async (hook, answer) => {
  const { ran, extensions } = witnesses();
  const fixture = await createSdkFixture([callsOf('one'), DONE]);
  const throwing = (): never => {
    throw new TypeError('broken');
  };
  await fixture.start({
    hookErrorMode: 'throw',
    extensions: [hooksOf({ [hook]: throwing }), ...extensions],
  });
  expect([ran, answers(fixture)]).toEqual([[], answer === null ? [] : [answer]]);
});

test('B8 afterRun that throws is called once, and so are those after it', async () => {
  const { ends, extensions } = witnesses();
  const called: string[] = [];
  const fixture = await createSdkFixture([DONE]);
  const failing = hooksOf({
    afterRun({ result }) {
      called.push(result.status);
      throw new TypeError('broken');
    },
  });
  const { result } = await fixture.start({ extensions: [failing, ...extensions] });
  expect([called, ends, result?.finishReason]).toEqual([['completed'], ['completed'], 'completed']);
  expect(noticesIn(fixture)).toContain('plugin watcher: afterRun failed: broken');
});

test('B9 input is chained over plugins, and toolCall.input is the same', async () => {
  const records: unknown[] = [];
  const fixture = await createSdkFixture([call('one', { a: 0 }), DONE]);
  await fixture.start({
    extensions: [
      toolPlugin('one', (input) => input),
      hooksOf({ beforeTool: () => ({ input: { a: 1 } }) }, 'first'),
      hooksOf(
        {
          beforeTool({ input, toolCall }) {
            records.push(input, toolCall.input);
            return { input: { ...Object(input), b: 2 } };
          },
        },
        'second',
      ),
    ],
  });
  expect([records, answers(fixture)]).toEqual([[{ a: 1 }, { a: 1 }], ['{"a":1,"b":2}']]);
});

test('B10 appendContext of two plugins in beforeTool is injected from both', async () => {
  const { extensions } = witnesses();
  const fixture = await createSdkFixture([callsOf('one'), DONE]);
  const giving = (text: string): AgentPlugin =>
    hooksOf({ beforeTool: () => ({ appendContext: text }) }, text);
  await fixture.start({
    extensions: [...extensions, giving('first words'), giving('second words')],
  });
  const sentText = sentIn(fixture, 1);
  expect([sentText.includes('first words'), sentText.includes('second words')]).toEqual([
    true,
    true,
  ]);
});

test('B11 beforeRun appendContext follows the prompt, as that of RunStart', async () => {
  const fixture = await createSdkFixture([DONE]);
  await fixture.start({
    extensions: [hooksOf({ beforeRun: () => ({ appendContext: 'it is Monday' }) })],
  });
  const [said] = fixture.service.requests()[0]?.messages ?? [];
  expect(said?.role).toBe('user');
  expect(said?.text).toMatch(/^go\n[^]*RunStart[^\n]*it is Monday/);
});

describe('B12 afterTool replaces the result twice', () => {
  const replacing = (name: string, records: unknown[], result: object): AgentPlugin =>
    hooksOf(
      {
        afterTool({ result: input }) {
          records.push(input);
          return { result: { output: '', ...result } };
        },
      },
      name,
    );

  test('B12 the second sees the result of the first, and the error is recorded', async () => {
    const records: unknown[] = [];
    const finished: unknown[] = [];
    const fixture = await createSdkFixture([callsOf('one'), DONE]);
    const { result, sessionId } = await fixture.start({
      extensions: [
        toolPlugin('one', () => 'plain'),
        replacing('first', records, { output: { part: 1 }, isError: true }),
        replacing('second', records, { output: 'REPLACED', isError: true }),
        hooksOf(
          {
            onEvent(event) {
              if (event.type === 'tool-finished') finished.push(event.message.content[0]);
            },
          },
          'listener',
        ),
      ],
    });
    expect(records).toEqual([{ output: 'plain' }, { output: { part: 1 }, isError: true }]);
    expect(answers(fixture)).toEqual(['REPLACED']);
    expect(result?.toolCalls).toMatchObject([
      { name: 'one', output: 'REPLACED', error: 'REPLACED' },
    ]);
    expect(finished).toMatchObject([
      { type: 'tool-result', toolName: 'one', output: 'REPLACED', isError: true },
    ]);
    const messages = await fixture.core.readMessages(sessionId);
    expect(messages[2]?.content).toMatchObject([
      { type: 'tool_result', content: 'REPLACED', is_error: true },
    ]);
  });

  test('B12 a result without isError is one of a call that worked', async () => {
    const records: unknown[] = [];
    const fixture = await createSdkFixture([callsOf('one'), DONE]);
    const failing = toolPlugin('one', () => {
      throw new TypeError('broken');
    });
    const { result } = await fixture.start({
      extensions: [failing, replacing('mender', records, { output: 'mended' })],
    });
    expect(records).toEqual([{ output: { error: 'broken' }, isError: true }]);
    expect(result?.toolCalls).toMatchObject([{ name: 'one', output: 'mended' }]);
    expect(result?.toolCalls[0]).not.toHaveProperty('error');
  });

  test('B12 the result of a built-in tool is replaced in the same way', async () => {
    const records: unknown[] = [];
    const fixture = await createSdkFixture([call('run_commands', { commands: ['echo hi'] }), DONE]);
    await fixture.start({
      extensions: [
        replacing('first', records, { output: 'FIRST', isError: true }),
        replacing('second', records, { output: 'SECOND' }),
      ],
    });
    expect(records).toEqual([
      { output: [{ query: 'echo hi', result: 'hi', success: true }] },
      { output: 'FIRST', isError: true },
    ]);
    expect(answers(fixture)).toEqual(['SECOND']);
  });

  test('B12 the result of a skipped call can be replaced, too', async () => {
    const fixture = await createSdkFixture([callsOf('one'), DONE]);
    await fixture.start({
      extensions: [
        toolPlugin('one', () => 'plain'),
        hooksOf({
          beforeTool: () => ({ skip: true, reason: 'no' }),
          afterTool: () => ({ result: { output: 'from the cache' } }),
        }),
      ],
    });
    expect(answers(fixture)).toEqual(['from the cache']);
  });
});

test('B13 beforeModel options are sent; an unknown key is dropped', async () => {
  const fixture = await createSdkFixture([DONE]);
  await fixture.start({
    extensions: [hooksOf({ beforeModel: () => ({ options: { temperature: 0.5, colour: 1 } }) })],
  });
  const body = fixture.service.mock.getRequests()[0]?.body;
  expect(body).toMatchObject({ temperature: 0.5 });
  expect(body).not.toHaveProperty('colour');
});

test('B14 beforeModel may change request.systemPrompt in place', async () => {
  const fixture = await createSdkFixture([DONE]);
  await fixture.start({
    extensions: [hooksOf({ beforeModel: ({ request }) => void (request.systemPrompt = 'OTHER') })],
  });
  expect(fixture.service.requests()[0]?.system).toBe('OTHER');
});

test('B15 beforeModel "tools: []" sends a request without tools', async () => {
  const { extensions } = witnesses();
  const fixture = await createSdkFixture([DONE]);
  await fixture.start({
    extensions: [...extensions, hooksOf({ beforeModel: () => ({ tools: [] }) })],
  });
  expect(fixture.service.requests()[0]?.tools).toEqual([]);
});

test('B16 config.hooks.beforeTool runs before the hooks of plugins', async () => {
  const { extensions } = witnesses();
  const records: string[] = [];
  const fixture = await createSdkFixture([callsOf('one'), DONE]);
  await fixture.start({
    hooks: { beforeTool: () => void records.push('config') },
    extensions: [...extensions, hooksOf({ beforeTool: () => void records.push('plugin') })],
  });
  expect(records).toEqual(['config', 'plugin']);
});

test('B17 a sub-agent shares the plugins of its session: set up once, with its whole context', async () => {
  const setups: unknown[] = [];
  const hookCalls: unknown[] = [];
  const shared: AgentPlugin = {
    name: 'shared',
    manifest: { capabilities: ['tools', 'hooks'] },
    setup(api, { session, workspaceInfo }) {
      setups.push([session?.sessionId, workspaceInfo?.rootPath]);
      api.registerTool({ name: 'one', description: '', inputSchema: {}, execute: () => 'ran' });
    },
    hooks: {
      beforeTool({ toolCall, snapshot }) {
        hookCalls.push([toolCall.toolName, snapshot.parentAgentId]);
      },
    },
  };
  const fixture = await createSdkFixture([
    call('spawn_agent', { task: 'look' }),
    call('one'),
    { text: 'I looked.' },
    DONE,
  ]);
  const { result, sessionId } = await fixture.start({
    enableSpawnAgent: true,
    extensions: [shared],
  });
  expect([result?.text, setups, hookCalls, errorsIn(fixture)]).toEqual([
    'Done.',
    [[sessionId, fixture.workspace]],
    [
      ['spawn_agent', null],
      ['one', sessionId],
    ],
    [],
  ]);
});
