import { expect, test } from 'vitest';
import {
  defineTool,
  createInterruptedOutput,
  type ToolDefinition,
} from '../../../src/agent/tools/define-tool.ts';
import type { Tool, ToolOutput } from '../../../src/agent/tools/tool.ts';
import { callTool, createFileToolContext, failed, hookInput } from './files/tool-context.ts';

const SHOUTED: ToolOutput = { response: { said: 'HI' }, text: 'HI', success: true };

function createTool(changes: Partial<ToolDefinition<string[]>> = {}): Tool {
  return defineTool<string[]>({
    name: 'Shout',
    description: 'Says it aloud.',
    schema: { type: 'object' },
    kind: 'plan',
    parse: (input) => [input.text('words')],
    run: async ([words = '']) => {
      const text = words.toUpperCase();
      return { response: { said: text }, text, success: true };
    },
    ...changes,
  });
}

const toolContext = createFileToolContext('/');

test('a tool has a schema for the model and runs the prepared call', async () => {
  const tool = createTool();
  const { name, description, schema, kind } = tool;
  expect({ name, description, schema, kind }).toEqual({
    name: 'Shout',
    description: 'Says it aloud.',
    schema: { type: 'object' },
    kind: 'plan',
  });
  expect(await callTool(tool, { words: 'hi' }, toolContext)).toEqual(SHOUTED);
});

test('hooks see the input as it was given, or as the tool normalises it', () => {
  const input = { words: 'hi', more: 1 };
  expect(hookInput(createTool(), input, toolContext)).toEqual(input);
  const toolWithHookInput = createTool({ toHookInput: ([words]) => ({ words, loud: true }) });
  expect(hookInput(toolWithHookInput, input, toolContext)).toEqual({ words: 'hi', loud: true });
});

test.each([
  [null, 'null'],
  ['words', 'a text'],
  [[], 'a list'],
  [undefined, 'nothing'],
])('the input %j is refused', (input, found) => {
  expect(createTool().prepare(input, toolContext)).toBe(
    `expected the input of Shout to be an object, found ${found}`,
  );
});

test('a wrong field, a refusal of the tool and an obstacle are reported in this order', () => {
  const wrong = 'expected "words" to be text, found a number: 1';
  const refusing = { parse: () => 'refused', check: () => 'obstacle' };
  expect(
    createTool({ ...refusing, parse: (input) => [input.text('words')] }).prepare(
      { words: 1 },
      toolContext,
    ),
  ).toBe(wrong);
  expect(createTool(refusing).prepare({}, toolContext)).toBe('refused');
  expect(createTool({ check: () => 'obstacle' }).prepare({ words: '' }, toolContext)).toBe(
    'obstacle',
  );
});

test('an error that a tool throws is returned as a failure, whenever it is thrown', async () => {
  const fail = (): never => {
    throw new TypeError('broken');
  };
  expect(createTool({ check: fail }).prepare({ words: '' }, toolContext)).toBe('broken');
  expect(await callTool(createTool({ run: fail }), { words: '' }, toolContext)).toEqual(
    failed('broken'),
  );
  const late = createTool({ run: () => Promise.reject(new TypeError('late')) });
  expect(await callTool(late, { words: '' }, toolContext)).toEqual(failed('late'));
});

test('an aborted call is interrupted, before it starts or by what it throws', async () => {
  const interrupted = {
    ...failed('The call was interrupted before it was done.'),
    interrupted: true,
  };
  const signal = AbortSignal.abort();
  expect(await callTool(createTool(), { words: '' }, toolContext, { signal })).toEqual(interrupted);

  const controller = new AbortController();
  const aborted = createTool({
    run: () => {
      controller.abort();
      return Promise.reject(new TypeError('aborted'));
    },
  });
  expect(await callTool(aborted, { words: '' }, toolContext, controller)).toEqual(interrupted);
  expect(createInterruptedOutput('some lines').text).toBe(
    'some lines\nThe call was interrupted before it was done.',
  );
});
