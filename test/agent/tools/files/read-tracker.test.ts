import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FileWrites, ReadTracker } from '../../../../src/agent/tools/files/read-tracker.ts';
import { BugError } from '../../../../src/base/errors.ts';
import { createDirectory } from '../../../base/directory.ts';

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

test('lists the watched files that changed, with their bytes before', () => {
  const directory = createDirectory({ a: 'one', b: 'one', c: 'one' });
  const [a, b, c] = ['a', 'b', 'c'].map((name) => path.join(directory, name));
  if (a === undefined || b === undefined || c === undefined) throw new BugError('no files');
  const memory = new ReadTracker();
  for (const file of [a, b, c]) memory.markRead(file, ONE);
  // Somebody changed this one before.
  writeFileSync(c, 'six');
  const listChanges = memory.watchFiles();
  writeFileSync(a, 'two');
  writeFileSync(c, 'ten');
  expect(listChanges()).toEqual([{ file: a, before: ONE, after: TWO }]);
});

test('lists no file that an agent of the session wrote meanwhile', () => {
  const file = path.join(createDirectory({ a: 'one' }), 'a');
  const writes = new FileWrites();
  const [memory, other] = [new ReadTracker(writes), new ReadTracker(writes)];
  memory.markRead(file, ONE);
  const listChanges = memory.watchFiles();
  writeFileSync(file, 'two');
  other.markWritten(file, TWO);
  expect(listChanges()).toEqual([]);
  expect(memory.compare(file, TWO)).toBe('changed');
});

test('forgets the bytes of files when there are too many, and still knows what changed', () => {
  const large = Buffer.alloc(250 * 1024, 'a');
  const names = Array.from({ length: 40 }, (_, index) => `file-${index}`);
  const directory = createDirectory(
    Object.fromEntries(names.map((name) => [name, large.toString()])),
  );
  const memory = new ReadTracker();
  for (const name of names) memory.markRead(path.join(directory, name), large);
  const listChanges = memory.watchFiles();
  for (const name of ['file-0', 'file-39']) writeFileSync(path.join(directory, name), 'two');
  const changes = listChanges().map(({ file, before, after }) => [
    path.basename(file),
    before?.length ?? null,
    Buffer.from(after).toString(),
  ]);
  expect(changes).toEqual([
    ['file-0', null, 'two'],
    ['file-39', large.length, 'two'],
  ]);
});
