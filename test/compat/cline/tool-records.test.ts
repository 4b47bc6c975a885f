import { expect, test } from 'vitest';
import type { AgentPlugin } from '../../../src/plugins/contract/plugin.ts';
import { call, createSdkFixture, DONE, hooksOf, toolPlugin } from './sdk-fixture.ts';

const GIVEN = {
  look__up: { found: [1, 2] },
  nothing: null,
  words: 'as they are',
};

function giving(name: keyof typeof GIVEN): AgentPlugin {
  return toolPlugin(name, () => GIVEN[name]);
}

test('the output of a plugin’s tool is in the record, the hook’s result and the message’s part, as it was returned', async () => {
  const names = ['look__up', 'nothing', 'words'] as const;
  const stage = await createSdkFixture([...names.map((name) => call(name)), DONE]);
  const heard: unknown[] = [];
  const parts: unknown[] = [];
  const watching = hooksOf({
    afterTool: ({ result }) => void heard.push(result.output),
    afterRun({ result }) {
      const all = result.messages.flatMap(({ content }) => content);
      parts.push(...all.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));
    },
  });
  const { result } = await stage.start({ extensions: [...names.map(giving), watching] });
  const given = names.map((name) => GIVEN[name]);
  expect(result?.toolCalls.map(({ output }) => output)).toEqual(given);
  expect(heard).toEqual(given);
  expect(parts).toEqual(given);
});

test('the error of a call is in the record, and its output has it as the model reads it', async () => {
  const failing = toolPlugin('break', () => {
    throw new Error('broken');
  });
  const stage = await createSdkFixture([call('break'), DONE]);
  const { result } = await stage.start({ extensions: [failing] });
  expect(result?.toolCalls).toMatchObject([{ output: { error: 'broken' }, error: 'broken' }]);
});
