import { chmodSync, mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FileMemo, ObservedFiles } from '../../src/base/observed-files.ts';
import { createDirectory } from './directory.ts';

test('answers as the file system does', () => {
  const root = createDirectory({ 'a/b': 'text', c: '' });
  symlinkSync('a', path.join(root, 'link'));
  const files = new ObservedFiles();
  const at = (name: string): string => path.join(root, name);
  expect(['a', 'c', 'link', 'gone', 'c/d'].map((name) => files.readKind(at(name)))).toEqual([
    'directory',
    'file',
    'link',
    'absent',
    'absent',
  ]);
  expect(files.readKind('/dev/null')).toBe('other');
  expect(files.findRealPath(at('link/b'))).toBe(at('a/b'));
  expect(files.findRealPath(at('gone'))).toBe(null);
  expect(files.readText(at('a/b'))).toBe('text');
  expect([at('a'), at('gone'), '/dev/zero'].map((file) => files.readText(file))).toEqual([
    null,
    null,
    null,
  ]);
  expect(files.listEntries(root).toSorted()).toEqual(['a', 'c']);
  expect(files.listEntries(at('gone'))).toEqual([]);
  expect(files.isWritable(root)).toBe(true);
  expect(files.isWritable(at('gone'))).toBe(false);
  expect(files.areUnchanged()).toBe(true);
});

test.each<
  readonly [string, (root: string) => void, (files: ObservedFiles, root: string) => unknown]
>([
  [
    'a file that appears',
    (root) => writeFileSync(`${root}/new`, ''),
    (files, root) => files.readKind(`${root}/new`),
  ],
  [
    'a file that goes',
    (root) => unlinkSync(`${root}/a/b`),
    (files, root) => files.readKind(`${root}/a/b`),
  ],
  [
    'a directory in place of a file',
    (root) => {
      unlinkSync(`${root}/c`);
      mkdirSync(`${root}/c`);
    },
    (files, root) => files.readKind(`${root}/c`),
  ],
  [
    'a text of the same length',
    (root) => writeFileSync(`${root}/a/b`, 'TEXT'),
    (files, root) => files.readText(`${root}/a/b`),
  ],
  [
    'a new entry',
    (root) => writeFileSync(`${root}/new`, ''),
    (files, root) => files.listEntries(root),
  ],
  [
    'a link that leads elsewhere',
    (root) => {
      unlinkSync(`${root}/link`);
      symlinkSync('c', `${root}/link`);
    },
    (files, root) => files.findRealPath(`${root}/link`),
  ],
  [
    'a directory that is gone',
    (root) => rmSync(`${root}/a`, { recursive: true }),
    (files, root) => files.isWritable(`${root}/a`),
  ],
])('notices %s', (_what, change, ask) => {
  const root = createDirectory({ 'a/b': 'text', c: '' });
  symlinkSync('a', path.join(root, 'link'));
  const files = new ObservedFiles();
  ask(files, root);
  expect(files.areUnchanged()).toBe(true);
  change(root);
  expect(files.areUnchanged()).toBe(false);
});

test('a value is computed again only for another key or changed files', () => {
  const root = createDirectory({ a: 'one' });
  const memo = new FileMemo<string>();
  let count = 0;
  const compute = (key: string): string =>
    memo.compute(key, (files) => {
      count += 1;
      return `${key} ${files.readText(path.join(root, 'a'))}`;
    });
  expect([compute('x'), compute('x'), count]).toEqual(['x one', 'x one', 1]);
  chmodSync(path.join(root, 'a'), 0o600);
  expect([compute('x'), count]).toEqual(['x one', 1]);
  writeFileSync(path.join(root, 'a'), 'two');
  expect([compute('x'), compute('y'), count]).toEqual(['x two', 'y two', 3]);
});
