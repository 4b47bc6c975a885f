import { expect, test } from 'vitest';
import type { AgentMessage } from '../../../../src/plugins/contract/message.ts';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import type { AgentRuntimeEvent } from '../../../../src/plugins/contract/runtime-hooks.ts';
import { call, createSdkFixture, DONE, hooksOf, toolPlugin } from '../sdk-fixture.ts';

/** A plugin that keeps every event, with the messages of its moment. */
function listener(events: AgentRuntimeEvent[]): AgentPlugin {
  return hooksOf(
    { onEvent: (event) => void events.push(structuredClone(withoutErrors(event))) },
    'listener',
  );
}

function withoutErrors(event: AgentRuntimeEvent): AgentRuntimeEvent {
  return { ...event, snapshot: { ...event.snapshot } };
}

const TOOL_SOURCE = {
  toolSource: { providerId: 'openai-compatible', modelId: 'gpt-4o', executionMode: 'runtime' },
};

test('a call has started when beforeTool has answered, with the input that it gave', async () => {
  const order: unknown[] = [];
  const fixture = await createSdkFixture([call('work', { a: 1 }), DONE]);
  const guard = hooksOf({
    beforeTool({ input }) {
      order.push(['beforeTool', input]);
      return { input: { b: 2 } };
    },
    onEvent(event) {
      if (event.type === 'tool-started' || event.type === 'tool-finished') {
        order.push([event.type, event.toolCall]);
      }
    },
  });
  await fixture.start({ extensions: [toolPlugin('work', (input) => input), guard] });
  const toolCall = { type: 'tool-call', toolCallId: 'call_0_0', toolName: 'work' };
  const startedCall = { ...toolCall, input: { b: 2 }, metadata: TOOL_SOURCE };
  expect(order).toEqual([
    ['beforeTool', { a: 1 }],
    ['tool-started', startedCall],
    ['tool-finished', startedCall],
  ]);
});

test('a call starts also after a guard was switched off, and before its notice', async () => {
  const turns = [1, 2, 3, 4].map((n) => call('work', { n }));
  const types: string[] = [];
  const fixture = await createSdkFixture([...turns, DONE]);
  const failing = hooksOf({
    beforeTool() {
      throw new TypeError('broken');
    },
    onEvent(event) {
      if (event.type.startsWith('tool-')) types.push(event.type);
    },
  });
  const working = toolPlugin('work', () => 'done', {
    execute(_input: unknown, context: { emitUpdate(update: unknown): void }) {
      context.emitUpdate('half');
      return 'done';
    },
  });
  await fixture.start({ extensions: [working, failing] });
  expect(types).toEqual(turns.flatMap(() => ['tool-started', 'tool-updated', 'tool-finished']));
});

test('the output of a call is passed on as the tool gave it, in every event', async () => {
  const outputs: unknown[] = [];
  const fixture = await createSdkFixture([
    call('work'),
    call('fail'),
    call('run_commands', { commands: ['echo hi'] }),
    call('replaced'),
    DONE,
  ]);
  const resultsIn = (messages: readonly AgentMessage[]): unknown[] =>
    messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool-result'));
  const watching = hooksOf({
    afterTool: ({ toolCall }) =>
      toolCall.toolName === 'replaced' ? { result: { output: { other: 1 } } } : undefined,
    onEvent(event) {
      if (event.type === 'tool-finished') outputs.push(...resultsIn([event.message]));
    },
    afterRun: ({ result }) => void outputs.push(resultsIn(result.messages)),
  });
  const failing = toolPlugin('fail', () => {
    throw new TypeError('broken');
  });
  await fixture.start({
    extensions: [
      toolPlugin('work', () => ({ got: 1 })),
      toolPlugin('replaced', () => 'plain'),
      failing,
      watching,
    ],
  });
  const expected = [
    { toolName: 'work', output: { got: 1 } },
    { toolName: 'fail', output: { error: 'broken' }, isError: true },
    { toolName: 'run_commands', output: [{ query: 'echo hi', result: 'hi', success: true }] },
    { toolName: 'replaced', output: { other: 1 } },
  ].map((told, turn) => ({ type: 'tool-result', toolCallId: `call_${turn}_0`, ...told }));
  expect(outputs).toEqual([...expected, expected]);
});

test('a message has one id, its time, its model and its usage', async () => {
  const startedAt = Date.now();
  const events: AgentRuntimeEvent[] = [];
  const answered: AgentMessage[] = [];
  const fixture = await createSdkFixture([call('work'), DONE]);
  const watching = hooksOf({
    afterModel: ({ assistantMessage }) => void answered.push(assistantMessage),
  });
  await fixture.start({
    extensions: [toolPlugin('work', () => 'done'), watching, listener(events)],
  });
  const added = events.flatMap((event) => (event.type === 'message-added' ? [event.message] : []));
  const last = events.at(-1)?.snapshot.messages ?? [];
  expect(added.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
  expect(last.slice(1)).toEqual(
    added.map((message) => ({ ...message, createdAt: expect.any(Number) })),
  );
  expect(answered).toEqual(added.filter(({ role }) => role === 'assistant'));
  expect(answered[0]).toMatchObject({
    modelInfo: { id: 'gpt-4o', provider: 'openai-compatible' },
    metrics: { inputTokens: 100, outputTokens: 10, cost: expect.any(Number) },
  });
  expect(last.every(({ createdAt }) => createdAt >= startedAt && createdAt <= Date.now())).toBe(
    true,
  );
  expect(new Set(last.map(({ id }) => id)).size).toBe(last.length);
});

test('the cost of a run is reported where it is known', async () => {
  const costs: unknown[] = [];
  const fixture = await createSdkFixture([call('work'), DONE]);
  const { result } = await fixture.start({
    extensions: [
      toolPlugin('work', () => 'done'),
      hooksOf({ afterRun: ({ result: { usage } }) => void costs.push(usage.totalCost) }),
    ],
  });
  expect(costs).toEqual([expect.closeTo(result?.usage.totalCost ?? 0, 9)]);
  expect(costs[0]).toBeGreaterThan(0);
});

test('a turn is over before afterRun, and its snapshot is of that turn', async () => {
  const order: unknown[] = [];
  const fixture = await createSdkFixture([call('work'), DONE]);
  await fixture.start({
    extensions: [
      toolPlugin('work', () => 'done'),
      hooksOf({
        afterRun: () => void order.push('afterRun'),
        onEvent(event) {
          if (event.type === 'turn-finished') {
            order.push([event.iteration, event.toolCallCount, event.snapshot.iteration]);
          }
          if (event.type === 'run-finished') order.push(event.type);
        },
      }),
    ],
  });
  expect(order).toEqual([[1, 1, 1], [2, 0, 2], 'afterRun', 'run-finished']);
});

test('a steering message is reported as an added message', async () => {
  const events: AgentRuntimeEvent[] = [];
  const fixture = await createSdkFixture([call('work'), DONE]);
  const steering: AgentPlugin = {
    name: 'steering',
    manifest: { capabilities: ['tools'] },
    setup(api, { emitEvent }) {
      api.registerTool({
        name: 'work',
        description: '',
        inputSchema: {},
        execute: () => emitEvent?.('steer_message', { prompt: 'and quickly' }) ?? 'done',
      });
    },
  };
  await fixture.start({ extensions: [steering, listener(events)] });
  const texts = events.flatMap((event) =>
    event.type === 'message-added' && event.message.role === 'user'
      ? [JSON.stringify(event.message.content)]
      : [],
  );
  expect(texts).toEqual([expect.stringContaining('and quickly')]);
});

test('afterTool and onEvent receive the reason of the plugin that skipped a call', async () => {
  const events: unknown[] = [];
  const fixture = await createSdkFixture([call('work'), DONE]);
  const { result } = await fixture.start({
    extensions: [
      toolPlugin('work', () => 'done'),
      hooksOf({
        beforeTool: () => ({ skip: true, reason: 'not now' }),
        afterTool: ({ result: { output, isError } }) => void events.push([output, isError]),
        onEvent(event) {
          const [part] = event.type === 'tool-finished' ? event.message.content : [];
          if (part?.type === 'tool-result') events.push([part.output, part.isError]);
        },
      }),
    ],
  });
  const reports = [{ error: 'not now' }, true];
  expect(events).toEqual([reports, reports]);
  expect(result?.toolCalls[0]?.output).toEqual({ error: 'not now' });
});
