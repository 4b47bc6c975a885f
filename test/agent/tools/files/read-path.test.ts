import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  readPath,
  describeFileError,
  formatMissingFile,
} from '../../../../src/agent/tools/files/read-path.ts';
import { createDirectory } from '../../../base/directory.ts';

const hasMkfifo = spawnSync('mkfifo', ['--version']).error === undefined;
const isLinux = process.platform === 'linux';
const NOT_REGULAR = {
  is: 'unreadable',
  why: 'it is a device, a pipe or a socket, not a regular file',
};

test('the kinds of things at a path are distinguished', () => {
  const directory = createDirectory({ a: 'text', empty: '' });
  symlinkSync('circle', path.join(directory, 'circle'));
  symlinkSync('nowhere', path.join(directory, 'dangling'));
  const found = (name: string, maxBytes = 100) => readPath(path.join(directory, name), maxBytes);
  expect(found('a')).toEqual({ is: 'file', bytes: Buffer.from('text') });
  expect(found('a', 4)).toEqual({ is: 'file', bytes: Buffer.from('text') });
  expect(found('a', 3)).toEqual({ is: 'large', size: 4 });
  expect(found('empty')).toEqual({ is: 'file', bytes: Buffer.alloc(0) });
  expect(found('.')).toEqual({ is: 'directory' });
  expect(found('b')).toEqual({ is: 'absent' });
  expect(found('dangling')).toEqual({ is: 'absent' });
  expect(found('a/b')).toEqual({
    is: 'unreadable',
    why: 'a part of the path is a file, not a directory',
  });
  expect(found('circle')).toEqual({
    is: 'unreadable',
    why: 'its symbolic links lead in a circle',
  });
  expect(found('x'.repeat(300))).toEqual({ is: 'unreadable', why: 'the name is too long' });
});

test.skipIf(!hasMkfifo)('a FIFO is not waited for (skipped without mkfifo)', () => {
  const fifo = path.join(createDirectory(), 'fifo');
  spawnSync('mkfifo', [fifo]);
  expect(readPath(fifo, 100)).toEqual(NOT_REGULAR);
});

test.skipIf(!isLinux)('a device is not read, a file that hides its size is (Linux only)', () => {
  expect(readPath('/dev/zero', 100)).toEqual(NOT_REGULAR);
  const status = readPath('/proc/self/status', 100_000);
  expect(status.is === 'file' && status.bytes.toString().startsWith('Name:')).toBe(true);
  expect(readPath('/proc/self/status', 10)).toEqual({ is: 'large', size: 11 });
});

test('a missing file is reported with a similar name', () => {
  const directory = createDirectory({ 'reader.ts': '', 'notes.md': '' });
  const formatFor = (name: string) => formatMissingFile(path.join(directory, name), '/work');
  const note = 'File does not exist. Note: your current working directory is /work.';
  expect(formatFor('raeder.ts')).toBe(`${note} Did you mean ${path.join(directory, 'reader.ts')}?`);
  expect(formatFor('notes.txt')).toBe(`${note} Did you mean ${path.join(directory, 'notes.md')}?`);
  expect(formatFor('something else')).toBe(note);
  expect(formatFor('no-directory/a')).toBe(note);
});

test('an unknown error keeps its own message', () => {
  expect(describeFileError(Object.assign(new Error('x'), { code: 'ENOSPC' }))).toBe(
    'no space is left on the disk',
  );
  expect(describeFileError(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))).toBe(
    'EIO: i/o error',
  );
});
