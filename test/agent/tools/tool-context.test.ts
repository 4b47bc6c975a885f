import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ReadTracker } from '../../../src/agent/tools/tool-context.ts';
import { createDirectory } from '../../base/directory.ts';

const ONE = Buffer.from('one');
const TWO = Buffer.from('two');

test('a file is unread, then the same, then changed', () => {
  const file = path.join(createDirectory({ a: 'one' }), 'a');
  const memory = new ReadTracker();
  expect(memory.compare(file, ONE)).toBe('unread');
  memory.markRead(file, ONE);
  expect(memory.compare(file, ONE)).toBe('same');
  expect(memory.compare(file, TWO)).toBe('changed');
  memory.markRead(file, TWO);
  expect(memory.compare(file, TWO)).toBe('same');
});

test('a link and its target are one file', () => {
  const directory = createDirectory({ a: 'one' });
  const link = path.join(directory, 'link');
  symlinkSync('a', link);
  const memory = new ReadTracker();
  memory.markRead(link, ONE);
  expect(memory.compare(path.join(directory, 'a'), ONE)).toBe('same');
});

test('a link that was turned to another file is another file', () => {
  const directory = createDirectory({ a: 'one', b: 'one' });
  const link = path.join(directory, 'link');
  symlinkSync('a', link);
  const memory = new ReadTracker();
  memory.markRead(link, ONE);
  symlinkSync('b', path.join(directory, 'other'));
  renameSync(path.join(directory, 'other'), link);
  expect(memory.compare(link, ONE)).toBe('unread');
});

test('a file that was written anew with the same content counts as the same', () => {
  const file = path.join(createDirectory({ a: 'one' }), 'a');
  const memory = new ReadTracker();
  memory.markRead(file, ONE);
  writeFileSync(file, 'one');
  expect(memory.compare(file, ONE)).toBe('same');
});
