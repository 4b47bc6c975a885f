import { describe, expect, it } from 'vitest';
import type {
  AgentModelRequest,
  AgentRunResult,
} from '../../../../src/plugins/contract/runtime-hooks.ts';
import { answers, call, createSdkFixture, DONE, hooksOf, toolPlugin } from '../sdk-fixture.ts';

/** Records the results that afterRun receives. */
function ends(): { results: AgentRunResult[]; plugin: ReturnType<typeof hooksOf> } {
  const results: AgentRunResult[] = [];
  const plugin = hooksOf({ afterRun: ({ result }) => void results.push(result) }, 'ends');
  return { results, plugin };
}

const statusOf = ({ status, iterations, stopReason }: AgentRunResult) => ({
  status,
  iterations,
  ...(stopReason === undefined ? {} : { stopReason }),
});

describe('beforeTool', () => {
  it('skips one call, whose result is the reason, and the run goes on', async () => {
    const ranHooks: string[] = [];
    const fixture = await createSdkFixture([
      {
        tools: [
          { name: 'one', input: {} },
          { name: 'two', input: {} },
        ],
      },
      DONE,
    ]);
    const { result } = await fixture.start({
      extensions: [
        toolPlugin('one', () => void ranHooks.push('one')),
        toolPlugin('two', () => void ranHooks.push('two')),
        hooksOf({
          beforeTool: ({ toolCall }) =>
            toolCall.toolName === 'two' ? { skip: true, reason: 'not two' } : undefined,
        }),
      ],
    });
    expect(ranHooks).toEqual(['one']);
    expect(answers(fixture)).toEqual(['(no output)', '{"error":"not two"}']);
    expect(result).toMatchObject({ finishReason: 'completed', text: 'Done.', iterations: 2 });
  });

  it('stops the run with a reason that is reported, and no tool runs any more', async () => {
    const ranHooks: string[] = [];
    const end = ends();
    const fixture = await createSdkFixture([
      {
        tools: [
          { name: 'one', input: {} },
          { name: 'two', input: {} },
        ],
      },
      DONE,
    ]);
    const { result, sessionId } = await fixture.start({
      extensions: [
        toolPlugin('one', () => void ranHooks.push('one')),
        toolPlugin('two', () => void ranHooks.push('two')),
        hooksOf({ beforeTool: () => ({ stop: true, reason: 'enough' }) }),
        end.plugin,
      ],
    });
    expect(ranHooks).toEqual([]);
    expect(result).toMatchObject({ finishReason: 'aborted', stopReason: 'enough', text: '' });
    expect(end.results.map(statusOf)).toEqual([
      { status: 'aborted', iterations: 1, stopReason: 'enough' },
    ]);
    const messages = await fixture.core.readMessages(sessionId);
    expect(JSON.stringify(messages.at(-1))).toContain('a hook stopped the run: enough');
    expect(fixture.service.requests()).toHaveLength(1);
  });

  it('rewrites the input, one plugin after the other, and toolCall has the same', async () => {
    const records: unknown[] = [];
    const fixture = await createSdkFixture([call('one', { a: 0 }), DONE]);
    await fixture.start({
      extensions: [
        toolPlugin('one', (input) => input),
        hooksOf({ beforeTool: () => ({ input: { a: 1 } }) }, 'first'),
        hooksOf(
          {
            beforeTool({ input, toolCall }) {
              records.push([input, toolCall.input]);
              return { input: { a: 1, b: 2 } };
            },
          },
          'second',
        ),
      ],
    });
    expect(records).toEqual([[{ a: 1 }, { a: 1 }]]);
    expect(answers(fixture)).toEqual(['{"a":1,"b":2}']);
  });

  it('gives context; that of two plugins is kept', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    await fixture.start({
      extensions: [
        toolPlugin('one', () => 'fine'),
        hooksOf({ beforeTool: () => ({ appendContext: 'first words' }) }, 'first'),
        hooksOf({ beforeTool: () => ({ appendContext: 'second words' }) }, 'second'),
      ],
    });
    const sentTexts = fixture.service
      .requests()
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join('\n');
    expect(sentTexts).toContain('first words');
    expect(sentTexts).toContain('second words');
  });

  it('sets a policy: disabled means denied, and what must be approved is denied without a user', async () => {
    const fixture = await createSdkFixture([call('one'), call('two'), DONE]);
    await fixture.start({
      extensions: [
        toolPlugin('one', () => 'ran'),
        toolPlugin('two', () => 'ran'),
        hooksOf({
          beforeTool: ({ toolCall }) => ({
            policy: toolCall.toolName === 'one' ? { enabled: false } : { autoApprove: false },
          }),
        }),
      ],
    });
    expect(answers(fixture)).toEqual([
      '{"error":"Tool \\"one\\" is disabled by policy"}',
      'Tool "two" requires approval, which a plugin asks for',
    ]);
  });

  it('sees built-in tools under the names and with the input of Cline’s SDK', async () => {
    const records: unknown[] = [];
    const fixture = await createSdkFixture([call('run_commands', { commands: ['echo hi'] }), DONE]);
    await fixture.start({
      extensions: [
        hooksOf({
          beforeTool({ tool, toolCall, input }) {
            records.push([tool.name, toolCall.toolName, input]);
          },
          afterTool({ result, durationMs, startedAt }) {
            records.push([result, typeof durationMs, startedAt instanceof Date]);
          },
        }),
      ],
    });
    expect(records).toEqual([
      ['run_commands', 'run_commands', { commands: ['echo hi'] }],
      [{ output: [{ query: 'echo hi', result: 'hi', success: true }] }, 'number', true],
    ]);
  });
});

describe('afterTool', () => {
  it('replaces the result, one plugin after the other, and sees denied calls', async () => {
    const records: unknown[] = [];
    const fixture = await createSdkFixture([call('one'), call('two'), DONE]);
    await fixture.start({
      extensions: [
        toolPlugin('one', () => ({ secret: 1 })),
        toolPlugin('two', () => 'ran'),
        hooksOf(
          {
            beforeTool: ({ toolCall }) =>
              toolCall.toolName === 'two' ? { skip: true, reason: 'no' } : undefined,
            afterTool({ result, toolCall }) {
              records.push([toolCall.toolName, result]);
              return toolCall.toolName === 'one' ? { result: { output: 'first' } } : undefined;
            },
          },
          'first',
        ),
        hooksOf(
          {
            afterTool({ result, toolCall }) {
              records.push([toolCall.toolName, result]);
              return toolCall.toolName === 'one' ? { result: { output: 'REPLACED' } } : undefined;
            },
          },
          'second',
        ),
      ],
    });
    const denied = { output: { error: 'no' }, isError: true };
    expect(records).toEqual([
      ['one', { output: { secret: 1 } }],
      ['one', { output: 'first' }],
      ['two', denied],
      ['two', denied],
    ]);
    expect(answers(fixture)[0]).toBe('REPLACED');
  });

  it('stops the run after the call, whose result is kept', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const { result, sessionId } = await fixture.start({
      extensions: [
        toolPlugin('one', () => 'kept'),
        hooksOf({ afterTool: () => ({ stop: true, reason: 'enough' }) }),
      ],
    });
    expect(result).toMatchObject({ finishReason: 'aborted', stopReason: 'enough' });
    const messages = await fixture.core.readMessages(sessionId);
    expect(JSON.stringify(messages.at(-1))).toContain('kept');
  });
});

describe('beforeRun', () => {
  it('stops a run before the model is called, and afterRun is called once', async () => {
    const end = ends();
    const fixture = await createSdkFixture([DONE]);
    const { result } = await fixture.start({
      extensions: [hooksOf({ beforeRun: () => ({ stop: true, reason: 'not now' }) }), end.plugin],
    });
    expect(result).toMatchObject({ finishReason: 'aborted', iterations: 0, stopReason: 'not now' });
    expect(end.results.map(statusOf)).toEqual([
      { status: 'aborted', iterations: 0, stopReason: 'not now' },
    ]);
    expect(fixture.service.requests()).toEqual([]);
  });

  it('that stops the run prevents the event of its start', async () => {
    const events: string[] = [];
    const fixture = await createSdkFixture([DONE]);
    const beforeRun = () => ({ stop: true });
    const onEvent = ({ type }: { type: string }): void => void events.push(type);
    await fixture.start({ extensions: [hooksOf({ beforeRun, onEvent })] });
    expect(events).toEqual(['run-finished']);
  });

  it('has ended when run-started is emitted', async () => {
    const events: string[] = [];
    const fixture = await createSdkFixture([DONE]);
    const beforeRun = (): void => void events.push('beforeRun');
    const onEvent = ({ type }: { type: string }): void => void events.push(type);
    await fixture.start({ extensions: [hooksOf({ beforeRun, onEvent })] });
    expect(events.slice(0, 3)).toEqual(['beforeRun', 'run-started', 'turn-started']);
  });

  it('gives context to the model', async () => {
    const fixture = await createSdkFixture([DONE]);
    await fixture.start({
      extensions: [hooksOf({ beforeRun: () => ({ appendContext: 'it is Monday' }) })],
    });
    expect(JSON.stringify(fixture.service.requests()[0]?.messages)).toContain('it is Monday');
  });
});

describe('beforeModel', () => {
  it('changes the request in place, and what it returns counts, too', async () => {
    const fixture = await createSdkFixture([DONE]);
    await fixture.start({
      extensions: [
        hooksOf(
          {
            beforeModel({ request }) {
              request.systemPrompt = `${request.systemPrompt} and more`;
              request.messages.push({
                id: 'x',
                role: 'user',
                content: [{ type: 'text', text: 'in place' }],
                createdAt: 0,
              });
            },
          },
          'first',
        ),
        hooksOf(
          { beforeModel: () => ({ tools: [], options: { temperature: 0.5, unknown: 1 } }) },
          'second',
        ),
      ],
    });
    const [request] = fixture.service.requests();
    expect(request).toMatchObject({ system: 'SYS and more', tools: [] });
    expect(request?.messages.at(-1)?.text).toContain('in place');
    expect(fixture.service.mock.getRequests()[0]?.body).toMatchObject({ temperature: 0.5 });
    expect(fixture.agentEvents().filter(({ type }) => type === 'notice')).toEqual([]);
  });

  it('stops the run without a request', async () => {
    const fixture = await createSdkFixture([DONE]);
    const { result } = await fixture.start({
      extensions: [hooksOf({ beforeModel: () => ({ stop: true, reason: 'too dear' }) })],
    });
    expect(result).toMatchObject({
      finishReason: 'aborted',
      iterations: 1,
      stopReason: 'too dear',
    });
    expect(fixture.service.requests()).toEqual([]);
  });
});

describe('a request that a plugin breaks', () => {
  const spoilers: readonly [string, (request: AgentModelRequest) => void, string][] = [
    ['a message', ({ messages }) => void messages.push(null as never), '"messages"'],
    ['its tools', (request) => void (request.tools = undefined as never), '"tools"'],
    [
      'its prompt, and throws',
      (request) => {
        request.systemPrompt = 'HALF';
        throw new TypeError('given up');
      },
      'given up',
    ],
  ];

  it.each(spoilers)('by %s is restored for the next plugin', async (_what, spoil, problem) => {
    const fixture = await createSdkFixture([call('one'), call('one'), call('one'), DONE]);
    const records: unknown[] = [];
    const { result, sessionId } = await fixture.start(
      {
        extensions: [
          toolPlugin('one', () => 'ran'),
          hooksOf({ beforeModel: ({ request }) => spoil(request) }, 'spoiler'),
          hooksOf(
            {
              beforeModel({ request }) {
                records.push(request.systemPrompt);
                return { options: { temperature: 0.25 } };
              },
            },
            'next',
          ),
        ],
      },
      { interactive: true },
    );
    expect(result?.text).toBe('Done.');
    expect(records).toEqual(['SYS', 'SYS', 'SYS', 'SYS']);
    const states = fixture.core.plugins(sessionId).map(({ name, state, lastError }) => ({
      name,
      state,
      isToldWhy: lastError?.includes(problem) ?? null,
    }));
    expect(states.slice(1)).toEqual([
      { name: 'spoiler', state: 'degraded', isToldWhy: true },
      { name: 'next', state: 'ready', isToldWhy: null },
    ]);
    const sentBodies = fixture.service.mock.getRequests().map(({ body }) => body);
    expect(sentBodies).toMatchObject(Array.from({ length: 4 }, () => ({ temperature: 0.25 })));
    expect(fixture.service.requests().map(({ system }) => system)).toEqual(records);
  });
});

it('afterModel sees the answer and its numbers, and stops the run', async () => {
  const records: unknown[] = [];
  const fixture = await createSdkFixture([call('one'), DONE]);
  const { result } = await fixture.start({
    extensions: [
      toolPlugin('one', () => 'ran'),
      hooksOf({
        afterModel({ assistantMessage, finishReason }) {
          records.push([assistantMessage.content, assistantMessage.metrics, finishReason]);
          return { stop: true, reason: 'I saw enough' };
        },
      }),
    ],
  });
  expect(result).toMatchObject({ finishReason: 'aborted', stopReason: 'I saw enough' });
  expect(records).toEqual([
    [
      [{ type: 'tool-call', toolCallId: 'call_0_0', toolName: 'one', input: {} }],
      {
        inputTokens: 100,
        outputTokens: 10,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        cost: expect.any(Number),
      },
      'tool-calls',
    ],
  ]);
});

it('every call with an end event has a start event', async () => {
  const events: string[] = [];
  const fixture = await createSdkFixture([
    { tools: ['a', 'b'].map((word) => ({ name: 'one', input: { word } })) },
    DONE,
  ]);
  await fixture.start({
    extensions: [
      toolPlugin('one', () => 'ran'),
      hooksOf({
        beforeTool: () => ({ stop: true, reason: 'enough' }),
        onEvent(event) {
          const { type } = event;
          if (type !== 'tool-started' && type !== 'tool-finished') return;
          events.push(`${type} ${event.toolCall.toolCallId}`);
        },
      }),
    ],
  });
  expect(events).toEqual([
    'tool-started call_0_0',
    'tool-finished call_0_0',
    'tool-started call_0_1',
    'tool-finished call_0_1',
  ]);
});

it('afterRun receives the whole run, once, whatever other plugins do', async () => {
  const end = ends();
  const fixture = await createSdkFixture([call('one'), DONE]);
  await fixture.start({
    extensions: [
      toolPlugin('one', () => 'ran'),
      hooksOf({
        afterRun() {
          throw new TypeError('broken');
        },
      }),
      end.plugin,
    ],
  });
  expect(end.results).toMatchObject([
    {
      status: 'completed',
      iterations: 2,
      outputText: 'Done.',
      usage: { inputTokens: 200, outputTokens: 20 },
    },
  ]);
  expect(end.results[0]?.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
});

it('config.hooks come before the hooks of plugins', async () => {
  const records: string[] = [];
  const fixture = await createSdkFixture([call('run_commands', { commands: ['true'] }), DONE]);
  await fixture.start({
    hooks: { beforeTool: () => void records.push('config') },
    extensions: [hooksOf({ beforeTool: () => void records.push('plugin') })],
  });
  expect(records).toEqual(['config', 'plugin']);
});

it('onEvent receives every event in order, with the state of the agent', async () => {
  const types: string[] = [];
  const iterations: number[] = [];
  const fixture = await createSdkFixture([call('one'), DONE]);
  await fixture.start({
    extensions: [
      toolPlugin('one', () => 'ran'),
      hooksOf({
        onEvent({ type, snapshot }) {
          if (types.at(-1) !== type) types.push(type);
          iterations.push(snapshot.iteration);
        },
      }),
    ],
  });
  expect(types).toEqual([
    'run-started',
    'turn-started',
    'usage-updated',
    'message-added',
    'assistant-message',
    'tool-started',
    'tool-finished',
    'message-added',
    'turn-finished',
    'turn-started',
    'assistant-text-delta',
    'usage-updated',
    'message-added',
    'assistant-message',
    'turn-finished',
    'run-finished',
  ]);
  expect(new Set(iterations)).toEqual(new Set([0, 1, 2]));
});

describe('a hook that fails', () => {
  it('is reported, and switched off with a warning after three times; the run goes on', async () => {
    let askCount = 0;
    const fixture = await createSdkFixture([
      call('one'),
      call('one'),
      call('one'),
      call('one', { x: 1 }),
      DONE,
    ]);
    const { result } = await fixture.start({
      extensions: [
        toolPlugin('one', () => 'ran'),
        hooksOf({
          beforeTool() {
            askCount += 1;
            throw new TypeError('broken');
          },
        }),
      ],
    });
    expect(askCount).toBe(3);
    expect(result).toMatchObject({ finishReason: 'completed', text: 'Done.' });
    const texts = fixture
      .agentEvents()
      .flatMap((event) => (event.type === 'error' ? [event.error.message] : []));
    expect(texts).toEqual([
      'plugin watcher: beforeTool failed 3 times and is disabled for this session',
    ]);
  });

  it('counts as failed when it does not answer in time', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    const { result } = await fixture.start({
      hookTimeoutMs: 20,
      extensions: [
        toolPlugin('one', () => 'ran'),
        hooksOf({ beforeTool: () => new Promise(() => undefined) }),
      ],
    });
    expect(result).toMatchObject({ finishReason: 'completed' });
    expect(fixture.agentEvents()).toContainEqual({
      type: 'notice',
      noticeType: 'status',
      displayRole: 'status',
      message: 'plugin watcher: beforeTool failed: did not answer within 20 ms (Let it answer sooner)',
    });
  });

  it('refuses what it was asked about when it is set to fail closed', async () => {
    const guard = Object.assign(
      () => {
        throw new TypeError('broken');
      },
      { failClosed: true },
    );
    const turns = [call('one'), call('one'), call('one'), call('one'), DONE];
    const fixture = await createSdkFixture(turns);
    await fixture.start({
      extensions: [toolPlugin('one', () => 'ran'), hooksOf({ beforeTool: guard })],
    });
    expect(answers(fixture)).toEqual(
      Array.from({ length: 4 }, () => 'PreToolUse:one hook error: broken'),
    );
  });

  it('refuses with hookErrorMode "throw"', async () => {
    const fixture = await createSdkFixture([call('one'), DONE]);
    await fixture.start({
      hookErrorMode: 'throw',
      extensions: [
        toolPlugin('one', () => 'ran'),
        hooksOf({
          beforeTool() {
            throw new TypeError('broken');
          },
        }),
      ],
    });
    expect(answers(fixture)).toEqual(['PreToolUse:one hook error: broken']);
  });
});
