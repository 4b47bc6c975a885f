import { expect, test } from 'vitest';
import { createProgress } from '../../../../src/agent/tools/shell/command-output.ts';

/** The progress reports for chunks that arrive at these milliseconds. */
function collectProgress(
  ...chunks: readonly (readonly [at: number, text: string])[]
): readonly string[] {
  const reports: string[] = [];
  let now = 0;
  const show = createProgress((line) => reports.push(line), { elapsed: () => now });
  for (const [at, text] of chunks) {
    now = at;
    show(Buffer.from(text));
  }
  return reports;
}

test('the last line of a chunk is reported, without its colours', () => {
  expect(collectProgress([0, 'one\n\u001B[1mtwo\u001B[0m\n'])).toEqual(['two']);
});

test('the first line is reported at once, and then one in half a second', () => {
  const chunks = [0, 100, 499, 500, 900, 1000].map((at) => [at, `at ${at}\n`] as const);
  expect(collectProgress(...chunks)).toEqual(['at 0', 'at 500', 'at 1000']);
});

test('blank lines are not reported, and the next line is', () => {
  expect(collectProgress([0, '\n \n'], [1, 'one'])).toEqual(['one']);
});

test('a long line is cut', () => {
  const [line = ''] = collectProgress([0, 'x'.repeat(3000)]);
  expect(line.length).toBeLessThan(250);
  expect(line).toMatch(/^x+/);
});
