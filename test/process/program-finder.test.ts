import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createProgramFinder } from '../../src/process/program-finder.ts';
import { temporaryDirectory } from './programs.ts';

function directoryWith(...programs: string[]): string {
  const directory = temporaryDirectory();
  for (const name of programs) writeFileSync(path.join(directory, name), '', { mode: 0o755 });
  return directory;
}

test('the first directory of the PATH that has the program wins', () => {
  const [first, second] = [directoryWith('b'), directoryWith('a', 'b')];
  const find = createProgramFinder(`${first}:${second}`, 'linux');
  expect([find('a'), find('b'), find('c')]).toEqual([
    path.join(second, 'a'),
    path.join(first, 'b'),
    null,
  ]);
});

test('directories and files that cannot be executed are no programs', () => {
  const directory = directoryWith();
  mkdirSync(path.join(directory, 'a'));
  writeFileSync(path.join(directory, 'b'), '', { mode: 0o644 });
  const find = createProgramFinder(directory, 'linux');
  expect([find('a'), find('b'), find(path.join(directory, 'b'))]).toEqual([null, null, null]);
});

test('a path is looked at where it is', () => {
  const file = path.join(directoryWith('a'), 'a');
  const find = createProgramFinder(undefined, 'linux');
  expect([find(file), find(`${file}x`)]).toEqual([file, null]);
});

test('empty and relative entries of the PATH are passed over', () => {
  const find = createProgramFinder(':.:node_modules/.bin:', 'linux');
  expect(find('tsc')).toBeNull();
});

test('an answer is remembered', () => {
  const directory = directoryWith('a');
  const find = createProgramFinder(directory, 'linux');
  const before = [find('a'), find('b')];
  rmSync(path.join(directory, 'a'));
  writeFileSync(path.join(directory, 'b'), '', { mode: 0o755 });
  expect([find('a'), find('b')]).toEqual(before);
});

test('on Windows the extensions of PATHEXT are tried in their order', () => {
  const [first, second] = [directoryWith('a.cmd', 'a.exe', 'plain'), directoryWith('b.exe')];
  const find = createProgramFinder(`"${first}";${second}`, 'win32');
  expect([find('a'), find('b'), find('a.cmd'), find('plain')]).toEqual([
    path.join(first, 'a.exe'),
    path.join(second, 'b.exe'),
    path.join(first, 'a.cmd'),
    null,
  ]);
  expect(createProgramFinder(first, 'win32', '.CMD;.EXE')('a')).toBe(path.join(first, 'a.cmd'));
});
