import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SpillFile } from '../../../../src/agent/tools/shell/command-output.ts';
import { createDirectory } from '../../../base/directory.ts';

test('makes a private file once there is more than fits in memory, and keeps everything in order', () => {
  const directory = path.join(createDirectory(), 'made');
  const spill = new SpillFile(directory, 4);
  spill.push(Buffer.from('ab'));
  spill.push(Buffer.from('cd'));
  spill.push(Buffer.from('ef'));
  spill.push(Buffer.from('gh'));
  const spilled = spill.finish();
  expect(spilled).toEqual({ path: expect.any(String), bytes: 8, isWhole: true });
  expect(readFileSync(spilled?.path ?? '', 'utf8')).toBe('abcdefgh');
});

test('makes no file for short output, and removes one that is no longer needed', () => {
  const directory = createDirectory();
  const little = new SpillFile(directory, 4);
  little.push(Buffer.from('abcd'));
  expect(little.finish()).toBeNull();
  const unneeded = new SpillFile(directory, 1);
  unneeded.push(Buffer.from('abcd'));
  unneeded.discard();
  expect(readdirSync(directory)).toEqual([]);
});

test('stops where the disk would fill up', () => {
  const spill = new SpillFile(createDirectory(), 1, 6);
  for (const text of ['abc', 'def', 'ghi', 'j']) spill.push(Buffer.from(text));
  const spilled = spill.finish();
  expect(spilled).toEqual({ path: expect.any(String), bytes: 6, isWhole: false });
  expect(readFileSync(spilled?.path ?? '', 'utf8')).toBe(
    'abcdef\n[output cut here: at most 6 bytes of it are kept (setting bash.maxOutputBytes)]\n',
  );
});

test.each([
  ['there is no place', null],
  ['the place cannot be made', '/dev/null/place'],
])('gives nothing when %s', (_when, directory) => {
  const spill = new SpillFile(directory, 1);
  spill.push(Buffer.from('abc'));
  spill.push(Buffer.from('def'));
  expect(spill.finish()).toBeNull();
});
