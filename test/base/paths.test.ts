import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatPath, findRealPath, isInside } from '../../src/base/paths.ts';
import { createDirectory } from './directory.ts';

describe('inside', () => {
  test.each([
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a/', '/a/b', true],
    ['/', '/a', true],
    ['/a', '/', false],
    ['/a', '/ab', false],
    ['/a/b', '/a', false],
    ['/a', '/a/../b', false],
    ['/a', '/a/..b', true],
    ['/a', '/a/...', true],
  ])('%s holds %s: %s', (outer, inner, expected) => {
    expect(isInside(outer, inner)).toBe(expected);
  });
});

test('the real path follows links and is null where nothing is', () => {
  const directory = createDirectory({ 'a/file': '' });
  symlinkSync('a', path.join(directory, 'link'));
  expect(findRealPath(path.join(directory, 'link/file'))).toBe(path.join(directory, 'a/file'));
  expect(findRealPath(path.join(directory, 'gone'))).toBeNull();
});

describe('a path for display', () => {
  const directories = { cwd: '/home/me/work', home: '/home/me' };
  test.each([
    ['/home/me/work/a/b', 'a/b'],
    ['/home/me/work', '.'],
    ['/home/me/other', '~/other'],
    ['/home/me', '~'],
    ['/home/mean', '/home/mean'],
    ['/etc/x', '/etc/x'],
  ])('%s is printed as %s', (file, output) => {
    expect(formatPath(file, directories)).toBe(output);
  });

  test('without a home there is no ~', () => {
    expect(formatPath('/home/me/x', { cwd: '/w', home: null })).toBe('/home/me/x');
  });
});
