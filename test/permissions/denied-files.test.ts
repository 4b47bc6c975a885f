import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { DeniedFileLister } from '../../src/permissions/denied-files.ts';
import {
  parsePermissionRule,
  type PermissionRule,
} from '../../src/permissions/rules/permission-rule.ts';
import { createDirectory } from '../base/directory.ts';

function parse(...texts: readonly string[]): readonly PermissionRule[] {
  return texts
    .map((text) => parsePermissionRule({ behavior: 'deny', text, source: 'test' }))
    .filter((rule) => typeof rule !== 'string');
}

function createPlace(files: Readonly<Record<string, string>>) {
  const root = createDirectory(files);
  const locations = { cwd: root, roots: [root], home: null };
  return {
    root,
    list: (lister: DeniedFileLister, ...rules: readonly string[]) => {
      const found = lister.list(parse(...rules), root, locations, [root]);
      const toNames = (paths: readonly string[]) =>
        paths.map((file) => path.relative(root, file)).toSorted();
      return { ...found, reads: toNames(found.reads), edits: toNames(found.edits) };
    },
  };
}

const FILES = { '.env': '', 'a/.env': '', 'a/b/x.pem': '', 'secrets/deep/y': '', other: '' };

test('finds what exists, at the depth that the rule means', () => {
  const { list } = createPlace(FILES);
  const rules = [
    'Read(./.env)',
    'Read(**/*.pem)',
    'Read(./secrets/**)',
    'Edit(other)',
    'Read(./gone)',
  ];
  expect(list(new DeniedFileLister(), ...rules)).toEqual({
    reads: ['.env', 'a/b/x.pem', 'secrets/deep'],
    edits: ['other'],
    absentEdits: [],
    unlisted: [],
  });
});

test('a directory in which nothing may be made stands for all that is in it', () => {
  const { list, root } = createPlace(FILES);
  const edits = (...rules: readonly string[]) => list(new DeniedFileLister(), ...rules).edits;
  expect(edits('Edit(./secrets/**)', 'Edit(a/b/*)')).toEqual(['a/b', 'secrets']);
  expect(edits('Edit(./a/**/*.pem)')).toEqual(['a/b/x.pem']);
  expect(edits('Edit(./**)')).toEqual(['']);
  expect(edits('Edit(**)')).toEqual(['']);
  const both = new DeniedFileLister().list(
    parse('Edit(./**)'),
    root,
    { cwd: root, roots: [root], home: null },
    [root, path.join(root, 'a')],
  );
  expect(both.edits).toEqual([root, path.join(root, 'a')]);
});

test('a rule without a path, and rules that allow, list nothing', () => {
  const { list } = createPlace(FILES);
  expect(list(new DeniedFileLister(), 'Read', 'Bash(rm:*)')).toMatchObject({
    reads: [],
    edits: [],
  });
});

test('finds what was added since, and follows no link', () => {
  const { root, list } = createPlace(FILES);
  const lister = new DeniedFileLister();
  expect(list(lister, 'Read(**/.env)').reads).toEqual(['.env', 'a/.env']);
  mkdirSync(path.join(root, 'new'));
  writeFileSync(path.join(root, 'new/.env'), '');
  symlinkSync(root, path.join(root, 'loop'));
  expect(list(lister, 'Read(**/.env)').reads).toEqual(['.env', 'a/.env', 'new/.env']);
});

test('says when it could not look at all, or found too many', () => {
  const { list } = createPlace(FILES);
  const short = new DeniedFileLister({ maxEntries: 3, maxMatches: 100 });
  const limited = list(short, 'Read(**/.env)', 'Read(./other)', 'Edit(**/*.pem)');
  expect(limited.unlisted).toEqual([
    { rule: 'Read(**/.env) of test', why: expect.stringContaining('more than 3 files to look at') },
    { rule: 'Edit(**/*.pem) of test', why: expect.stringContaining('more than 3 files') },
  ]);
  expect(limited.reads).toContain('other');
  const few = new DeniedFileLister({ maxEntries: 100, maxMatches: 1 });
  expect(list(few, 'Read(**/.env)').unlisted).toEqual([
    { rule: 'Read(**/.env) of test', why: 'deny rules match more than 1 files' },
  ]);
});

test('a name that is not UTF-8 makes the list incomplete', () => {
  const { root, list } = createPlace(FILES);
  writeFileSync(
    Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff]), Buffer.from('.pem')]),
    '',
  );
  const { reads, unlisted } = list(new DeniedFileLister(), 'Read(**/*.pem)');
  expect(unlisted).toEqual([
    { rule: 'Read(**/*.pem) of test', why: expect.stringContaining('is not valid UTF-8') },
  ]);
  expect(reads).toEqual(['a/b/x.pem']);
});

test('lists what a rule names and does not exist, in a directory that does', () => {
  const { list } = createPlace(FILES);
  const absent = (...rules: readonly string[]) =>
    list(new DeniedFileLister(), ...rules).absentEdits.map((file) => path.basename(file));
  expect(absent('Edit(./new.txt)', 'Edit(/a/new)', 'Edit(./built/**)')).toEqual([
    'new.txt',
    'new',
    'built',
  ]);
  expect(absent('Edit(./no/such/file)', 'Edit(./no/*.txt)', 'Edit(new.txt)', 'Edit(**/x)')).toEqual(
    [],
  );
  expect(absent('Read(./new.txt)', 'Edit(./other)')).toEqual([]);
});
