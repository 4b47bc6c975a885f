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
  expect(collectProgress([0, '\n \n'], [1, 'one\n'])).toEqual(['one']);
});

test('a long line is cut between two words', () => {
  const [line = ''] = collectProgress([0, `${'some words '.repeat(100)}\n`]);
  expect(line.length).toBeLessThan(250);
  expect(line).toMatch(/^(?:some words )+some(?: words)?$/);
});

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

test.each([
  ['in two chunks', [`key ${TOKEN.slice(0, 9)}`, `${TOKEN.slice(9)}\n`]],
  ['in many chunks', `key ${TOKEN}\n`.split('')],
])('a secret %s is reported as one', (_, chunks) => {
  const reports = collectProgress(...chunks.map((text, at) => [at * 1000, text] as const));
  expect(reports).toEqual([`key ${TOKEN}`]);
});

test('a secret that is cut off at either end is not reported', () => {
  expect(collectProgress([0, `${'x '.repeat(95)}${TOKEN}${TOKEN}\n`])[0]).toMatch(/^(?:x )+x$/);
  expect(
    collectProgress([0, `${'y'.repeat(4000)}${TOKEN}`], [1000, `${'z '.repeat(90)}\n`]),
  ).toEqual([]);
});

test('lines of a private key are not reported', () => {
  const lines = [
    '-----BEGIN RSA PRIVATE KEY-----',
    'MIIEvQIBADANBgkqhkiG9w0',
    'AQEFAASC',
    '-----END RSA PRIVATE KEY-----',
    'done',
  ];
  const chunks = lines.map((line, at) => [at * 1000, `${line}\n`] as const);
  expect(collectProgress(...chunks)).toEqual(['-----END RSA PRIVATE KEY-----', 'done']);
});
