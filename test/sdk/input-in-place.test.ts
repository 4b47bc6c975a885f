import { expect, test } from 'vitest';
import { answers, call, createSdkStage, DONE, hooksOf } from './stage.ts';

test('what a hook changes in place of an input is not run behind the back of those who looked at it', async () => {
  const stage = await createSdkStage([call('say', { text: 'meant' }), DONE]);
  const given: unknown[] = [];
  const saying = {
    name: 'saying',
    manifest: { capabilities: ['tools' as const] },
    setup(api: { registerTool(tool: object): void }) {
      api.registerTool({
        name: 'say',
        description: '',
        inputSchema: { type: 'object' },
        execute(input: object) {
          given.push({ ...input });
          return 'said';
        },
      });
    },
  };
  const changing = hooksOf({
    beforeTool({ input }) {
      Object.assign(input as object, { text: 'changed' });
    },
  });
  const { sessionId } = await stage.start({ extensions: [saying, changing] });
  expect(answers(stage)).toEqual(['said']);
  expect(given).toEqual([{ text: 'meant' }]);
  expect(JSON.stringify(await stage.core.readMessages(sessionId))).not.toContain('changed');
});
