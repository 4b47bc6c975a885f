import { expect, test } from 'vitest';
import { parseScript } from '../../../src/agent/models/scripted.ts';
import { isHooklineError } from '../../../src/base/errors.ts';

function refusalOf(text: string): { readonly code: string; readonly message: string } {
  try {
    parseScript(text, 'demo.json');
  } catch (error) {
    if (isHooklineError(error)) return { code: error.code, message: error.message };
  }
  throw new Error('the script was not refused');
}

test('a script is a list of turns', () => {
  const turns = [
    { text: 'I look.', tools: [{ name: 'Read', input: { file_path: '/a' }, id: 'toolu_1' }] },
    { thinking: 'Hm.', tools: [{ name: 'TodoRead', input: {} }], usage: { inputTokens: 9 } },
    { failure: { class: 'rate_limit', message: 'Slow.', status: 429, retryable: false } },
    {},
  ];
  expect(parseScript(`\uFEFF${JSON.stringify(turns)}`, 'demo.json')).toEqual(turns);
});

test('a call without input has an empty one', () => {
  expect(parseScript('[{ "tools": [{ "name": "TodoRead" }] }]', 'demo.json')).toEqual([
    { tools: [{ name: 'TodoRead', input: {} }] },
  ]);
});

test.each([
  ['{}', 'demo.json: the script must be an array, found object'],
  ['[1]', 'demo.json: [0] must be an object, found 1'],
  ['[{}, { "text": 5 }]', 'demo.json: [1].text must be a string, found 5'],
  ['[{ "text": null }]', 'demo.json: [0].text must be a string, found null'],
  ['[{ "tools": {} }]', 'demo.json: [0].tools must be an array, found object'],
  [
    '[{ "tools": [{ "input": {} }] }]',
    'demo.json: [0].tools[0].name must be a string, found undefined',
  ],
  ['[{ "tool": [] }]', 'demo.json: [0] has an unknown field "tool"; did you mean "tools"?'],
  [
    '[{ "question": "?" }]',
    'demo.json: [0] has an unknown field "question"; known fields: text, thinking, tools, usage, failure',
  ],
  [
    '[{ "usage": { "inputTokens": -1 } }]',
    'demo.json: [0].usage.inputTokens must be a whole number from 0, found -1',
  ],
  [
    '[{ "failure": { "class": "tired" } }]',
    'demo.json: [0].failure.class must be one of rate_limit, overloaded, authentication_failed, billing_error, invalid_request, model_not_found, server_error, max_output_tokens, unreachable, protocol, aborted, unknown',
  ],
])('%s is refused with its position', (text, message) => {
  expect(refusalOf(text)).toEqual({ code: 'MODEL_SCRIPT_INVALID', message });
});

test('a file that is no JSON is refused by name', () => {
  const { code, message } = refusalOf('[{');
  expect(code).toBe('MODEL_SCRIPT_INVALID');
  expect(message).toMatch(/^demo\.json: the script is not valid JSON: ./);
});
