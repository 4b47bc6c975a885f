import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveFrom, resolveTarget } from '../../src/base/paths.ts';
import { createDirectory } from './directory.ts';

function createLinkedDirectory(): string {
  const base = createDirectory({ 'ws/a/b/file': 'in', 'out/deep/file': 'out', 'out/top': '' });
  symlinkSync('../out/deep', path.join(base, 'ws/link'));
  symlinkSync('link', path.join(base, 'ws/second'));
  symlinkSync(path.join(base, 'out/new/file'), path.join(base, 'ws/dangling'));
  symlinkSync('b', path.join(base, 'ws/a/inner'));
  return base;
}

test('the parent of a link is the parent of the directory that it leads to', () => {
  const base = createLinkedDirectory();
  const root = path.join(base, 'ws');
  const resolved = ['link/../top', 'second/../top', 'a/inner/../b/file', 'a/../link', '../ws/a'];
  expect(resolved.map((file) => resolveFrom(root, file))).toEqual([
    path.join(base, 'out/top'),
    path.join(base, 'out/top'),
    path.join(base, 'ws/a/b/file'),
    path.join(base, 'ws/link'),
    path.join(base, 'ws/a'),
  ]);
});

test('a directory that was entered by a link has the parent of the real one', () => {
  const base = createLinkedDirectory();
  expect(resolveFrom(path.join(base, 'ws/link'), '../top')).toBe(path.join(base, 'out/top'));
});

test('a file that does not exist is where writing would create it', () => {
  const base = createLinkedDirectory();
  const targets = ['ws/dangling', 'ws/link/../new', 'ws/missing/../x', 'ws/link/a/b'];
  expect(targets.map((file) => resolveTarget(`${base}/${file}`))).toEqual([
    { path: path.join(base, 'out/new/file'), isCertain: true },
    { path: path.join(base, 'out/new'), isCertain: true },
    { path: path.join(base, 'ws/x'), isCertain: true },
    { path: path.join(base, 'out/deep/a/b'), isCertain: true },
  ]);
});

test('links in a circle, too many links and names that are not text are not certain', () => {
  const base = createLinkedDirectory();
  symlinkSync('two', path.join(base, 'one'));
  symlinkSync('one', path.join(base, 'two'));
  symlinkSync('self/x', path.join(base, 'self'));
  symlinkSync('ws/a', path.join(base, 'level0'));
  for (let level = 1; level <= 45; level += 1) {
    symlinkSync(`level${level - 1}`, path.join(base, `level${level}`));
  }
  const bytes = Buffer.concat([Buffer.from(`${base}/`), Buffer.from([0xff, 0xfe])]);
  mkdirSync(bytes);
  symlinkSync(bytes, path.join(base, 'bytes'));
  const files = ['one', 'one/x', 'self', 'level45', 'level45/b', 'bytes', 'bytes/new'];
  const certain = files.map((file) => resolveTarget(`${base}/${file}`).isCertain);
  expect(certain).toEqual(files.map(() => false));
  expect(resolveTarget(`${base}/level39/b`)).toEqual({ path: `${base}/ws/a/b`, isCertain: true });
});

test('a name with a newline is a name', () => {
  const base = createDirectory({ 'real/file': '' });
  symlinkSync('real', path.join(base, 'new\nline'));
  expect(resolveTarget(`${base}/new\nline/../x`)).toEqual({
    path: path.join(base, 'x'),
    isCertain: true,
  });
});

test.skipIf(process.platform === 'win32')('existing paths resolve as the kernel does', () => {
  const base = createLinkedDirectory();
  const root = path.join(base, 'ws');
  mkdirSync(path.join(base, 'out/deep/b'));
  writeFileSync(path.join(base, 'out/deep/b/file'), '');
  symlinkSync('../../ws/a', path.join(base, 'out/deep/back'));
  const names = fc.constantFrom(
    'a',
    'b',
    'link',
    'second',
    'back',
    'inner',
    '..',
    '.',
    'deep',
    'out',
    'ws',
  );
  const script = 'for f in "$@"; do (cd -P -- "$f" 2>/dev/null && pwd -P || echo -); done';
  fc.assert(
    fc.property(
      fc.array(fc.array(names, { minLength: 1, maxLength: 7 }), { minLength: 30, maxLength: 30 }),
      (lists) => {
        const files = lists.map((parts) => parts.join('/'));
        const out = execFileSync('sh', ['-c', script, 'sh', ...files], { cwd: root });
        const entered = out.toString().trimEnd().split('\n');
        const existing = files.filter((_file, index) => entered[index] !== '-');
        expect(existing.map((file) => resolveTarget(resolveFrom(root, file)).path)).toEqual(
          entered.filter((directory) => directory !== '-'),
        );
      },
    ),
    { numRuns: 20 },
  );
});
