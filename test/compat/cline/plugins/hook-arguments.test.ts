import { expect, test } from 'vitest';
import { createDiskFixture } from '../disk-fixture.ts';
import { call, createSdkFixture, DONE, hooksOf, toolPlugin } from '../sdk-fixture.ts';

test('afterModel receives the usage of its answer, not of the whole run', async () => {
  const fixture = await createSdkFixture([call('look'), DONE]);
  const metrics: unknown[] = [];
  const usages: unknown[] = [];
  const counting = hooksOf({
    afterModel({ assistantMessage, snapshot }) {
      metrics.push(assistantMessage.metrics);
      usages.push(snapshot.usage.inputTokens);
    },
  });
  await fixture.start({ extensions: [toolPlugin('look', () => 'seen'), counting] });
  const [first, second] = metrics;
  expect(second).toEqual(first);
  expect(first).toMatchObject({ inputTokens: usages[0] });
  expect(usages[1]).toBe(2 * Number(usages[0]));
});

test('onEvent receives the id of the call that reports progress', async () => {
  const fixture = await createSdkFixture([call('work', { a: 1 }), DONE]);
  const updates: unknown[] = [];
  const watching = hooksOf({
    onEvent(event) {
      if (event.type === 'tool-updated') updates.push([event.toolCall, event.update]);
    },
  });
  const working = toolPlugin('work', () => 'done', {
    execute(_input: unknown, context: { emitUpdate(update: unknown): void }) {
      context.emitUpdate({ percent: 50 });
      return 'done';
    },
  });
  await fixture.start({ extensions: [working, watching] });
  expect(updates).toEqual([
    [
      expect.objectContaining({ toolCallId: 'call_0_0', toolName: 'work', input: { a: 1 } }),
      { percent: 50 },
    ],
  ]);
});

test.each([
  ['completed', {}, 'completed'],
  ['out of turns', { maxIterations: 1 }, 'failed'],
] as const)(
  'afterRun has a finished run in its snapshot, too: %s',
  async (_name, config, status) => {
    const fixture = await createSdkFixture([call('look'), DONE]);
    const records: unknown[] = [];
    const watching = hooksOf({
      afterRun: ({ snapshot, result }) => void records.push([snapshot.status, result.status]),
    });
    await fixture.start({ ...config, extensions: [toolPlugin('look', () => 'seen'), watching] });
    expect(records).toEqual([[status, status]]);
  },
);

const PROMPTED = `let seen;
export default { name: 'prompted', manifest: { capabilities: ['hooks', 'tools'] },
  setup: (api) => api.registerTool({ name: 'seen', description: '', inputSchema: {}, execute: () => seen }),
  hooks: { beforeRun({ snapshot }) { seen = snapshot.messages.map(({ role, content }) => [role, content]); } } }`;

test.each(['none', 'process'] as const)(
  'beforeRun finds the prompt at the end of the messages (isolation: %s)',
  async (pluginIsolation) => {
    const fixture = await createDiskFixture([DONE, call('seen'), DONE], {
      '.cline/plugins/prompted.mjs': PROMPTED,
    });
    const { sessionId } = await fixture.start({ pluginIsolation }, { interactive: true });
    const again = await fixture.core.send({ sessionId, prompt: 'once more' });
    const [{ output } = { output: null }] = again?.toolCalls ?? [];
    expect(output).toEqual([
      ['user', [{ type: 'text', text: 'go' }]],
      ['assistant', [{ type: 'text', text: 'Done.' }]],
      ['user', [{ type: 'text', text: 'once more' }]],
    ]);
    // The prompt appears once: when the run has begun, it is a part of the conversation.
    const sentMessages = fixture.service.requests().at(-1)?.messages ?? [];
    const texts = sentMessages.filter(({ role, text }) => role === 'user' && text === 'once more');
    expect(texts).toHaveLength(1);
  },
);
