import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findGitPlaces } from '../../src/host/git-places.ts';
import { createDirectory } from '../base/directory.ts';

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@b'];

function createRepository(): string {
  const root = path.join(createDirectory({ 'main/a': '' }), 'main');
  execFileSync('git', ['init', '-q', root]);
  execFileSync('git', [...IDENTITY, 'commit', '-q', '--allow-empty', '-m', 'one'], { cwd: root });
  return root;
}

function namesIn(root: string, places: ReturnType<typeof findGitPlaces>): readonly string[] {
  return places.protected.map((place) => path.relative(root, place.path));
}

test('a repository protects what steers git', () => {
  const root = createRepository();
  expect(findGitPlaces(root).writable).toEqual([]);
  expect(namesIn(root, findGitPlaces(root))).toEqual(
    ['config', 'hooks', 'info', 'modules', 'commondir'].map((name) => `.git/${name}`),
  );
});

test('without one, none can come to be', () => {
  const root = createDirectory();
  expect(findGitPlaces(root)).toEqual({
    writable: [],
    protected: [{ path: path.join(root, '.git') }],
  });
});

test('the git directory of a worktree is writable', () => {
  const root = createRepository();
  const tree = path.join(path.dirname(root), 'tree');
  execFileSync('git', ['worktree', 'add', '-q', tree], { cwd: root });
  const places = findGitPlaces(tree);
  expect(places.writable).toEqual([path.join(root, '.git')]);
  expect(namesIn(root, places)).toEqual(
    expect.arrayContaining([
      '.git/config',
      '.git/hooks',
      '.git/worktrees/tree/commondir',
      '../tree/.git',
    ]),
  );
});

test.each([
  'gitdir: MAIN/.git',
  'gitdir: MAIN/.git/worktrees/tree',
  'gitdir: ../main/.git\n',
  'junk',
])(
  'a file .git that claims the repository of somebody else (%s) makes nothing writable',
  (text) => {
    const root = createRepository();
    const tree = path.join(path.dirname(root), 'tree');
    execFileSync('git', ['worktree', 'add', '-q', tree], { cwd: root });
    const thief = path.join(path.dirname(root), 'thief');
    mkdirSync(thief);
    writeFileSync(path.join(thief, '.git'), text.replaceAll('MAIN', root));
    expect(findGitPlaces(thief)).toEqual({
      writable: [],
      protected: [{ path: path.join(thief, '.git') }],
    });
  },
);

test('a FIFO in its place is protected like a file', () => {
  const root = createDirectory();
  execFileSync('mkfifo', [path.join(root, '.git')]);
  expect(findGitPlaces(root).protected).toEqual([{ path: path.join(root, '.git') }]);
});
