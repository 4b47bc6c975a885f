import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  cleanEnvironment,
  cleanSearchPath,
  createProgramSearch,
  formatProgramFunctions,
  listUntrustedDirectories,
} from '../../src/process/search-path.ts';
import { temporaryDirectory } from './programs.ts';

function createPlaces() {
  const directory = temporaryDirectory();
  const [workspace, own] = [path.join(directory, 'ws'), path.join(directory, 'own')];
  mkdirSync(path.join(workspace, 'bin'), { recursive: true });
  mkdirSync(own);
  return { directory, workspace, own };
}

function write(file: string, mode = 0o755): string {
  writeFileSync(file, '#!/bin/sh\n', { mode });
  return file;
}

test('a PATH keeps only absolute directories outside of the untrusted ones', () => {
  const { directory, workspace, own } = createPlaces();
  const link = path.join(directory, 'link');
  symlinkSync(path.join(workspace, 'bin'), link);
  const entries = ['', '.', 'bin', workspace, `${workspace}/bin`, `${own}/../ws/bin`, link, own];
  expect(cleanSearchPath([...entries, '/usr/bin', ''].join(':'), [workspace], 'linux')).toBe(
    `${own}:/usr/bin`,
  );
});

test('a PATH of which nothing is left does not become that of the current directory', () => {
  const env = { PATH: './bin:', A: '1' };
  expect(cleanEnvironment(env, [], 'linux')).toEqual({
    PATH: '/usr/local/bin:/usr/bin:/bin',
    A: '1',
  });
  expect(cleanEnvironment({ A: '1' }, [], 'linux')).toEqual({ A: '1' });
});

test('a directory that contains the home directory is the user’s own', () => {
  const listed = listUntrustedDirectories(['/', '/home', '/home/me', '/home/me/ws'], '/home/me');
  expect(listed).toEqual(['/home/me/ws']);
  expect(listUntrustedDirectories(['/', '/srv/ws'], null)).toEqual(['/srv/ws']);
});

test('a program is found where a shell would find it, if an agent may have written it', () => {
  const { workspace, own } = createPlaces();
  write(path.join(own, 'ls'));
  const inWorkspace = write(path.join(workspace, 'bin', 'cat'), 0o644);
  symlinkSync(write(path.join(workspace, 'tool')), path.join(own, 'linked'));
  const search = createProgramSearch(`bin:${own}`, { cwd: workspace, untrusted: [workspace] });
  const find = search.findUntrusted;
  expect([find('ls'), find('cat'), find('linked'), find('none')]).toEqual([
    null,
    inWorkspace,
    path.join(own, 'linked'),
    null,
  ]);
});

test('a shell runs bound programs whatever its PATH is', () => {
  const { workspace } = createPlaces();
  write(path.join(workspace, 'bin', 'uname'));
  const functions = formatProgramFunctions({ uname: '/bin/echo', missing: null });
  const script = `PATH=bin:$PATH\n${functions}\nuname 'a b'; missing 2>&1; echo $?`;
  const output = execFileSync('bash', ['-c', script], { cwd: workspace, encoding: 'utf8' });
  expect(output).toBe('a b\nmissing: command not found\n127\n');
});
