import { expect, test } from 'vitest';
import { resolveToolPath, parsePathField } from '../../../../src/agent/tools/files/read-path.ts';
import { InputFields } from '../../../../src/agent/tools/input-fields.ts';
import { createFileToolContext } from './tool-context.ts';

test.each([
  ['a.txt', '/work/project/a.txt'],
  ['./src/../a.txt', '/work/project/a.txt'],
  ['/etc/hosts', '/etc/hosts'],
  ['~', '/home/user'],
  ['~/notes', '/home/user/notes'],
  ['~other/notes', '/work/project/~other/notes'],
])('%s leads to %s', (written, absolute) => {
  expect(resolveToolPath(written, createFileToolContext('/work/project', '/home/user'))).toBe(
    absolute,
  );
});

test('without a home directory, ~ is a name like any other', () => {
  expect(resolveToolPath('~/a', createFileToolContext('/work/project'))).toBe('/work/project/~/a');
});

test.each([
  ['', 'expected "file_path" to be text that is not empty, found an empty text'],
  [
    'a\0b',
    String.raw`expected "file_path" to be a path without NUL characters, found the text "a\u0000b"`,
  ],
])('the path %j is refused', (written, wrong) => {
  const fields = new InputFields({ file_path: written });
  parsePathField(fields, 'file_path', createFileToolContext('/work'));
  expect(fields.findProblem()).toBe(wrong);
});
