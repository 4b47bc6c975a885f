import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ObservedFiles } from '../../../src/base/observed-files.ts';
import { findGitPlaces as findIn } from '../../../src/host/sandbox/git-places.ts';
import { createDirectory } from '../../base/directory.ts';

const findGitPlaces = (root: string) => findIn(root, new ObservedFiles());

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
    ['config', 'hooks', 'info/attributes', 'commondir'].map((name) => `.git/${name}`),
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

function addSubmodule(root: string, name: string): void {
  const library = path.join(createDirectory({ 'library/a': '' }), 'library');
  execFileSync('git', ['init', '-q', library]);
  execFileSync('git', [...IDENTITY, 'commit', '-q', '--allow-empty', '-m', 'one'], {
    cwd: library,
  });
  const allowed = ['-c', 'protocol.file.allow=always'];
  execFileSync('git', [...allowed, 'submodule', '--quiet', 'add', library, name], { cwd: root });
}

test('what steers git in submodules is protected, and nothing else of them', () => {
  const root = createRepository();
  addSubmodule(root, 'lib');
  addSubmodule(root, 'deep/er');
  addSubmodule(path.join(root, 'lib'), 'inner');
  const modules = ['lib', 'deep/er', 'lib/modules/inner'];
  const names = ['config', 'hooks', 'info/attributes', 'commondir'];
  const expected = [
    ...names.map((name) => `.git/${name}`),
    ...modules.flatMap((module) => names.map((name) => `.git/modules/${module}/${name}`)),
    'lib/.git',
    'deep/er/.git',
    'lib/inner/.git',
  ];
  expect(namesIn(root, findGitPlaces(root)).toSorted()).toEqual(expected.toSorted());
});

test('a submodule stays protected when a command removes all of it that it can', () => {
  const root = createRepository();
  addSubmodule(root, 'lib');
  rmSync(path.join(root, '.git/modules/lib/HEAD'));
  expect(namesIn(root, findGitPlaces(root))).toContain('.git/modules/lib/config');
});

test('more submodules than can be mounted cannot be changed at all', () => {
  const root = createRepository();
  for (let index = 0; index < 17; index += 1) {
    const directory = path.join(root, `.git/modules/m${index}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, 'config'), '');
  }
  const inModules = namesIn(root, findGitPlaces(root)).filter((name) => name.includes('modules'));
  expect(inModules).toEqual(['.git/modules']);
});

test('the main checkout protects what steers git in its worktrees', () => {
  const root = createRepository();
  execFileSync('git', ['config', 'extensions.worktreeConfig', 'true'], { cwd: root });
  const tree = path.join(path.dirname(root), 'tree');
  execFileSync('git', ['worktree', 'add', '-q', tree], { cwd: root });
  const inWorktrees = namesIn(root, findGitPlaces(root)).filter((name) => /worktree/.test(name));
  expect(inWorktrees).toEqual([
    '.git/config.worktree',
    '.git/worktrees/tree/commondir',
    '.git/worktrees/tree/gitdir',
    '.git/worktrees/tree/config.worktree',
  ]);
});

test('of more worktrees than can be mounted only its own stays writable', () => {
  const root = createRepository();
  for (let index = 0; index < 17; index += 1) {
    const tree = path.join(path.dirname(root), `tree${index}`);
    execFileSync('git', ['worktree', 'add', '-q', tree], { cwd: root });
  }
  const places = findGitPlaces(path.join(path.dirname(root), 'tree3'));
  expect(places.writable).toEqual([
    path.join(root, '.git'),
    path.join(root, '.git/worktrees/tree3'),
  ]);
  expect(namesIn(root, places)).toEqual(
    expect.arrayContaining(['.git/worktrees', '.git/worktrees/tree3/commondir']),
  );
});
