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
    whyIncomplete: null,
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
  expect(list(short, 'Read(**/.env)').whyIncomplete).toContain('more than 3 files');
  const few = new DeniedFileLister({ maxEntries: 100, maxMatches: 1 });
  expect(list(few, 'Read(**/.env)').whyIncomplete).toContain('match more than 1 files');
});

test('a name that is not UTF-8 makes the list incomplete', () => {
  const { root, list } = createPlace(FILES);
  writeFileSync(
    Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff]), Buffer.from('.pem')]),
    '',
  );
  expect(list(new DeniedFileLister(), 'Read(**/*.pem)').whyIncomplete).toContain('not valid UTF-8');
});
