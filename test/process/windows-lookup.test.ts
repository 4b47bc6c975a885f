import { expect, test } from 'vitest';
import { findByPathExt } from '../../src/process/windows-lookup.ts';

const directory = String.raw`C:\hooks`;

function find(listing: readonly string[], pathExt?: string) {
  return findByPathExt({ directory, baseName: 'PreToolUse', pathExt, listing });
}

test('the order is that of PATHEXT, not of the listing', () => {
  const listing = ['PreToolUse.cmd', 'PreToolUse.bat', 'PreToolUse.exe'];
  expect(find(listing)).toBe(String.raw`C:\hooks\PreToolUse.exe`);
  expect(find(listing, '.CMD;.EXE')).toBe(String.raw`C:\hooks\PreToolUse.cmd`);
});

test('case makes no difference and the name is given as it is spelled on disk', () => {
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
