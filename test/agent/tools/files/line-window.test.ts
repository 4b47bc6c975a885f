import path from 'node:path';
import { expect, test } from 'vitest';
import {
  numberLines,
  selectLines,
  readLines,
} from '../../../../src/agent/tools/files/line-window.ts';
import { createDirectory } from '../../../base/directory.ts';

const SIGNAL = new AbortController().signal;
const LONG = 'ä'.repeat(3000);

test.each([
  ['a\nb\nc', { start: 1, limit: 2000 }, { lines: ['a', 'b', 'c'], start: 1, totalLines: 3 }],
  ['a\nb\n', { start: 1, limit: 2000 }, { lines: ['a', 'b', ''], start: 1, totalLines: 3 }],
  ['a\nb\nc\n', { start: 2, limit: 1 }, { lines: ['b'], start: 2, totalLines: 4 }],
  ['a\nb', { start: 9, limit: 1 }, { lines: [], start: 9, totalLines: 2 }],
  ['', { start: 1, limit: 5 }, { lines: [''], start: 1, totalLines: 1 }],
  [
    `${LONG}\nb`,
    { start: 1, limit: 5 },
    { lines: [`${'ä'.repeat(2000)}... [truncated]`, 'b'], start: 1, totalLines: 2 },
  ],
])('lines are selected alike from a text and from a file', async (text, range, window) => {
  expect(selectLines(text, range)).toEqual(window);
  const file = path.join(createDirectory({ a: text }), 'a');
  expect(await readLines(file, range, SIGNAL)).toEqual(window);
});

test('a line that stretches over many chunks is kept only as far as it is printed', async () => {
  const text = `first\n${'x'.repeat(1_000_000)}\nlast\n`;
  const file = path.join(createDirectory({ a: text }), 'a');
  const range = { start: 2, limit: 3 };
  expect(await readLines(file, range, SIGNAL)).toEqual(selectLines(text, range));
});

test('a file that holds NUL characters is no text', async () => {
  const file = path.join(createDirectory({ a: 'text\0' }), 'a');
  expect(await readLines(file, { start: 1, limit: 1 }, SIGNAL)).toBeNull();
});

test('lines of a file lose their carriage returns', async () => {
  const file = path.join(createDirectory({ a: 'a\r\nb\r\n' }), 'a');
  expect(await readLines(file, { start: 1, limit: 9 }, SIGNAL)).toEqual({
    lines: ['a', 'b', ''],
    start: 1,
    totalLines: 3,
  });
});

test('reading a file ends when it is aborted', async () => {
  const file = path.join(createDirectory({ a: 'text' }), 'a');
  const reading = readLines(file, { start: 1, limit: 1 }, AbortSignal.abort());
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});

test('lines are numbered as Claude does', () => {
  expect(numberLines({ lines: ['a', '', 'c'], start: 9 })).toBe('     9→a\n    10→\n    11→c');
});
