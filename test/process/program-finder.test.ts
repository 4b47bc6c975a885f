import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createProgramFinder, findByPathExt } from '../../src/process/program-finder.ts';
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

test('a path is used as it is', () => {
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

const directory = String.raw`C:\hooks`;

function find(listing: readonly string[], pathExt?: string) {
  return findByPathExt(directory, 'PreToolUse', listing, pathExt);
}

test('the order is that of PATHEXT, not of the listing', () => {
  const listing = ['PreToolUse.cmd', 'PreToolUse.bat', 'PreToolUse.exe'];
  expect(find(listing)).toBe(String.raw`C:\hooks\PreToolUse.exe`);
  expect(find(listing, '.CMD;.EXE')).toBe(String.raw`C:\hooks\PreToolUse.cmd`);
});

test('case makes no difference and the name is returned as it is spelled on disk', () => {
  expect(find(['pretooluse.Bat'])).toBe(String.raw`C:\hooks\pretooluse.Bat`);
});

test('.ps1 comes last, although PATHEXT lacks it', () => {
  expect(find(['PreToolUse.PS1'])).toBe(String.raw`C:\hooks\PreToolUse.PS1`);
  expect(find(['PreToolUse.ps1', 'PreToolUse.cmd'])).toBe(String.raw`C:\hooks\PreToolUse.cmd`);
});

test.each([
  [['PreToolUse']],
  [['PreToolUse.txt']],
  [['PreToolUse.exe.bak', 'XPreToolUse.exe']],
  [[]],
])('nothing is found in %j', (listing) => {
  expect(find(listing)).toBeNull();
});

test('an empty or odd PATHEXT leaves only .ps1', () => {
  expect(find(['PreToolUse', 'PreToolUse.exe', 'PreToolUse.ps1'], '; ;exe;')).toBe(
    String.raw`C:\hooks\PreToolUse.ps1`,
  );
});
