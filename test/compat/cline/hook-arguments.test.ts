import { expect, test } from 'vitest';
import { createDiskFixture } from './disk-fixture.ts';
import { call, createSdkFixture, DONE, hooksOf, toolPlugin } from './sdk-fixture.ts';

test('afterModel receives the usage of its answer, not of the whole run', async () => {
  const stage = await createSdkFixture([call('look'), DONE]);
  const metrics: unknown[] = [];
  const usages: unknown[] = [];
  const counting = hooksOf({
    afterModel({ assistantMessage, snapshot }) {
      metrics.push(assistantMessage.metrics);
      usages.push(snapshot.usage.inputTokens);
    },
  });
  await stage.start({ extensions: [toolPlugin('look', () => 'seen'), counting] });
  const [first, second] = metrics;
  expect(second).toEqual(first);
  expect(first).toMatchObject({ inputTokens: usages[0] });
  expect(usages[1]).toBe(2 * Number(usages[0]));
});

test('onEvent receives the id of the call that reports progress', async () => {
  const stage = await createSdkFixture([call('work', { a: 1 }), DONE]);
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
  await stage.start({ extensions: [working, watching] });
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
    const stage = await createSdkFixture([call('look'), DONE]);
    const seen: unknown[] = [];
    const watching = hooksOf({
      afterRun: ({ snapshot, result }) => void seen.push([snapshot.status, result.status]),
    });
    await stage.start({ ...config, extensions: [toolPlugin('look', () => 'seen'), watching] });
    expect(seen).toEqual([[status, status]]);
  },
);

const PROMPTED = `let seen;
export default { name: 'prompted', manifest: { capabilities: ['hooks', 'tools'] },
  setup: (api) => api.registerTool({ name: 'seen', description: '', inputSchema: {}, execute: () => seen }),
  hooks: { beforeRun({ snapshot }) { seen = snapshot.messages.map(({ role, content }) => [role, content]); } } }`;

test.each(['none', 'process'] as const)(
  'beforeRun finds the prompt at the end of the messages (isolation: %s)',
  async (pluginIsolation) => {
    const stage = await createDiskFixture([DONE, call('seen'), DONE], {
      '.cline/plugins/prompted.mjs': PROMPTED,
    });
    const { sessionId } = await stage.start({ pluginIsolation }, { interactive: true });
    const again = await stage.core.send({ sessionId, prompt: 'once more' });
    const [{ output } = { output: null }] = again?.toolCalls ?? [];
    expect(output).toEqual([
      ['user', [{ type: 'text', text: 'go' }]],
      ['assistant', [{ type: 'text', text: 'Done.' }]],
      ['user', [{ type: 'text', text: 'once more' }]],
    ]);
    // The prompt appears once: when the run has begun, it is a part of the conversation.
    const asked = stage.service.requests().at(-1)?.messages ?? [];
    const said = asked.filter(({ role, text }) => role === 'user' && text === 'once more');
    expect(said).toHaveLength(1);
  },
);
