import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTree, removeTree } from './tree.ts';

let root: string;
beforeEach(() => {
  root = createTree({});
});
afterEach(() => removeTree(root));

test('a case that moved to another file is not lost', () => {
  expect(compare('test/a.test.ts\tworks\n', report({ 'test/b/a.test.ts': ['works'] }))).toEqual({
    exitCode: 0,
    output: [
      'test names: 1 before, 1 after; 1 moved, 0 renamed, 0 dropped on purpose, 0 lost, 0 new, 0 wrong lines',
    ],
  });
});

test('a renamed case needs a line in the map, and a dropped one too', () => {
  const before = report({ 'test/a.test.ts': ['told truly', 'gone', 'same', 'same'] });
  const after = report({ 'test/a.test.ts': ['reports', 'same', 'same'] });
  expect(compare(before, after)).toEqual({
    exitCode: 1,
    output: [
      'lost, or renamed without a line in the map:',
      '  test/a.test.ts\ttold truly',
      '  test/a.test.ts\tgone',
      'new:',
      '  test/a.test.ts\treports',
      'test names: 4 before, 3 after; 0 moved, 0 renamed, 0 dropped on purpose, 2 lost, 1 new, 0 wrong lines',
    ],
  });
  const map =
    'test/a.test.ts\ttold truly\ttest/a.test.ts\treports\ntest/a.test.ts\tgone\t-\nx\ty\tx\tz\n';
  expect(compare(before, after, map)).toEqual({
    exitCode: 1,
    output: [
      'in the map, but not as the map says:',
      '  x\ty',
      'test names: 4 before, 3 after; 0 moved, 1 renamed, 1 dropped on purpose, 0 lost, 0 new, 1 wrong lines',
    ],
  });
});

function report(files: Readonly<Record<string, readonly string[]>>): string {
  const testResults = Object.entries(files).map(([name, names]) => ({
    name: `/somewhere/${name}`,
    assertionResults: names.map((fullName) => ({ fullName })),
  }));
  return JSON.stringify({ testResults });
}

function compare(
  before: string,
  after: string,
  map = '',
): { exitCode: number | null; output: string[] } {
  createTree({ before, after, map }, root);
  const files = ['before', 'after', 'map'].map((name) => path.join(root, name));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'jiti/register', 'scripts/compare-test-names.ts', ...files],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  return { exitCode: status, output: stdout.trimEnd().split('\n') };
}
