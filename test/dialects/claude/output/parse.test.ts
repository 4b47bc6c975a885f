import { describe, expect, test } from 'vitest';
import { findLastJsonLine, parseOutput } from '../../../../src/dialects/claude/output/parse.ts';

const NOT_READ =
  'the JSON after other output was not read: stdout must hold nothing but the JSON object; send log lines to stderr';

describe('plain text', () => {
  test.each([
    ['a word', 'hello\n', 'hello', []],
    ['a list', '["a"]', '["a"]', []],
    ['a string', '"a"', '"a"', []],
    ['with an answer at its end', 'log\n{"decision":"block"}', undefined, [NOT_READ]],
    ['with a printed answer at its end', 'log\n{\n "continue": false\n}\n', undefined, [NOT_READ]],
    [
      'with an answer after another object',
      'log\n{"a":1}\n{"decision":"block"}',
      undefined,
      [NOT_READ],
    ],
    ['with an object that is no answer', 'log\n{"level":"info"}', undefined, []],
    ['with a brace that opens nothing', 'if x\n{', undefined, []],
  ])('%s', (_, stdout, text, warnings) => {
    expect(parseOutput(stdout)).toEqual({ kind: 'text', text: text ?? stdout.trim(), warnings });
  });

  test('of many braces is searched in a bounded way', () => {
    expect(parseOutput(`x${'\n{'.repeat(400_000)}`)).toMatchObject({ kind: 'text', warnings: [] });
  });
});

test.each(['', ' \r\n\t', '\uFEFF'])('nothing: %j', (stdout) => {
  expect(parseOutput(stdout)).toEqual({ kind: 'nothing' });
});

test.each([
  ['log\n{"a":1}\n', { a: 1 }],
  ['{"a":1}\n{"b":2}\nbye', { b: 2 }],
  ['{"a":1}\n{broken', null],
  ['log', null],
])('the last object on a line of %j', (text, expected) => {
  expect(findLastJsonLine(text)).toEqual(expected);
});
