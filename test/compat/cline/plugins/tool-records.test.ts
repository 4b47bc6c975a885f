import { expect, test } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import { call, createSdkFixture, DONE, hooksOf, toolPlugin } from '../sdk-fixture.ts';

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
  const fixture = await createSdkFixture([...names.map((name) => call(name)), DONE]);
  const events: unknown[] = [];
  const parts: unknown[] = [];
  const watching = hooksOf({
    afterTool: ({ result }) => void events.push(result.output),
    afterRun({ result }) {
      const all = result.messages.flatMap(({ content }) => content);
      parts.push(...all.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])));
    },
  });
  const { result } = await fixture.start({ extensions: [...names.map(giving), watching] });
  const inputs = names.map((name) => GIVEN[name]);
  expect(result?.toolCalls.map(({ output }) => output)).toEqual(inputs);
  expect(events).toEqual(inputs);
  expect(parts).toEqual(inputs);
});

test('the error of a call is in the record, and its output has it as the model reads it', async () => {
  const failing = toolPlugin('break', () => {
    throw new Error('broken');
  });
  const fixture = await createSdkFixture([call('break'), DONE]);
  const { result } = await fixture.start({ extensions: [failing] });
  expect(result?.toolCalls).toMatchObject([
    { output: { error: 'broken' }, error: '{"error":"broken"}' },
  ]);
});
