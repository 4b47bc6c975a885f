import { expect, test } from 'vitest';
import { toPlainText, trimOutput } from '../../../../src/agent/tools/shell/command-output.ts';

const ESCAPE = '\u001B';

test.each([
  ['colours', `${ESCAPE}[1;31mred${ESCAPE}[0m`, 'red'],
  ['a cursor that is hidden and a line that is cleared', `${ESCAPE}[?25l${ESCAPE}[2Kx`, 'x'],
  ['half a code at the end', `x${ESCAPE}`, 'x\uFFFD'],
  ['bells and backspaces', 'a\u0007\u0008b', 'a\uFFFDb'],
  ['tabs and newlines, which stay', 'a\tb\nc', 'a\tb\nc'],
  ['a line written over and over', '1%\r2%\r3%', '3%'],
  ['a return before the newline, twice', 'a\r\r\nb', 'a\nb'],
  ['emoji and accents', 'é🎉', 'é🎉'],
])('%s', (_what, output, text) => {
  expect(toPlainText(output)).toBe(text);
});

test.each([
  ['unfinished codes', `${ESCAPE}[${';'.repeat(200_000)}`],
  ['nothing but escapes', ESCAPE.repeat(200_000)],
  ['a long line without an end', 'x'.repeat(200_000)],
  ['nothing but returns', '\r'.repeat(200_000)],
  ['nothing but spaces', ' '.repeat(200_000)],
])('does not choke on %s', (_what, output) => {
  expect(trimOutput(toPlainText(output)).length).toBeLessThanOrEqual(output.length);
});
