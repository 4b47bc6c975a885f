import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, type TestContext } from 'vitest';
import { replaceFile } from '../../../../src/agent/tools/files/editable-file.ts';
import { createDirectory } from '../../../base/directory.ts';

const NEW = Buffer.from('new');

function contentOf(file: string): string {
  return readFileSync(file, 'utf8');
}

test('a file and the directories above it are made', () => {
  const directory = createDirectory();
  const file = path.join(directory, 'a/b/c.txt');
  expect(replaceFile(file, NEW)).toBeNull();
  expect(contentOf(file)).toBe('new');
  expect(readdirSync(path.dirname(file))).toEqual(['c.txt']);
  writeFileSync(path.join(directory, 'usual'), '');
  expect(statSync(file).mode).toBe(statSync(path.join(directory, 'usual')).mode);
});

test('a file keeps its mode', () => {
  const file = path.join(createDirectory({ run: 'old' }), 'run');
  chmodSync(file, 0o751);
  expect(replaceFile(file, NEW)).toBeNull();
  expect([contentOf(file), statSync(file).mode & 0o777]).toEqual(['new', 0o751]);
});

test('a link stays a link, also one to a file that is not there yet', () => {
  const directory = createDirectory({ 'real/a': 'old' });
  for (const name of ['a', 'b']) {
    const link = path.join(directory, name);
    symlinkSync(`real/${name}`, link);
    expect(replaceFile(link, NEW)).toBeNull();
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(contentOf(path.join(directory, 'real', name))).toBe('new');
  }
  expect(readdirSync(path.join(directory, 'real'))).toEqual(['a', 'b']);
});

test('a file with two names keeps both', () => {
  const directory = createDirectory({ a: 'much older' });
  linkSync(path.join(directory, 'a'), path.join(directory, 'b'));
  expect(replaceFile(path.join(directory, 'a'), NEW)).toBeNull();
  expect(contentOf(path.join(directory, 'b'))).toBe('new');
});

test('a name of the greatest length is written', () => {
  const file = path.join(createDirectory(), 'x'.repeat(255));
  expect(replaceFile(file, NEW)).toBeNull();
  expect(contentOf(file)).toBe('new');
});

test('an obstacle is reported, and nothing is left behind', () => {
  const directory = createDirectory({ a: 'old' });
  mkdirSync(path.join(directory, 'full'));
  symlinkSync('circle', path.join(directory, 'circle'));
  const getMessage = (name: string) => {
    const file = path.join(directory, name);
    return replaceFile(file, NEW)?.replace(file, 'FILE');
  };
  expect(getMessage('a/b')).toBe(
    'Cannot write FILE: a part of the path is a file, not a directory.',
  );
  expect(getMessage('a/b/c')).toBe(
    'Cannot write FILE: a part of the path is a file, not a directory.',
  );
  expect(getMessage('x'.repeat(256))).toBe('Cannot write FILE: the name is too long.');
  expect(getMessage('full')).toBe('Cannot write FILE: it is a directory.');
  expect(getMessage('circle')).toBe('Cannot write FILE: its symbolic links lead in a circle.');
  expect(readdirSync(directory)).toEqual(['a', 'circle', 'full']);
});

test('a full disk is reported and the old content is kept (needs a mount)', (context) => {
  const directory = createDirectory();
  mountTiny(directory, context);
  const file = path.join(directory, 'a');
  writeFileSync(file, 'old');
  expect(replaceFile(file, Buffer.alloc(1024 * 1024))).toBe(
    `Cannot write ${file}: no space is left on the disk.`,
  );
  expect(contentOf(file)).toBe('old');
  expect(readdirSync(directory)).toEqual(['a']);
});

function mountTiny(directory: string, context: TestContext): void {
  const options = ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory];
  if (spawnSync('mount', options).status !== 0) context.skip('nothing can be mounted here');
  onTestFinished(() => {
    spawnSync('umount', [directory]);
  });
}

test('a file in a directory that is closed to us is written in place (needs root)', (context) => {
  const directory = createDirectory({ a: 'much older' });
  chmodSync(directory, 0o755);
  chmodSync(path.join(directory, 'a'), 0o666);
  runAsOtherUser(context, () => {
    expect(replaceFile(path.join(directory, 'a'), NEW)).toBeNull();
    const fresh = path.join(directory, 'b');
    expect(replaceFile(fresh, NEW)).toBe(`Cannot write ${fresh}: permission denied.`);
    const below = path.join(directory, 'c/d');
    expect(replaceFile(below, NEW)).toBe(`Cannot write ${below}: permission denied.`);
  });
  expect(contentOf(path.join(directory, 'a'))).toBe('new');
  expect(readdirSync(directory)).toEqual(['a']);
});

function runAsOtherUser(context: TestContext, act: () => void): void {
  if (process.getuid?.() !== 0 || process.seteuid === undefined) context.skip('not root');
  process.seteuid?.(65_534);
  try {
    act();
  } finally {
    process.seteuid?.(0);
  }
}
