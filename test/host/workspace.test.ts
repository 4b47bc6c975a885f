import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findHookPlaces } from '../../src/dialects/cline-files/machine.ts';
import { findPathsOutsideRoots, resolveRoots } from '../../src/host/workspace.ts';
import { createDirectory, write } from '../base/directory.ts';

describe('the workspace roots', () => {
  test.each([
    ['directory', 'repo/.git/HEAD'],
    ['file, as in a worktree', 'repo/.git'],
  ])('default to the nearest directory upwards with a .git %s', (_, git) => {
    const base = createDirectory({ [git]: 'gitdir: elsewhere', 'repo/a/b/c': '' });
    expect(resolveRoots(path.join(base, 'repo/a/b'), [])).toEqual([path.join(base, 'repo')]);
  });

  test('need no git program', () => {
    const base = createDirectory({ '.git/HEAD': '', 'sub/file': '' });
    const before = process.env['PATH'];
    process.env['PATH'] = '';
    try {
      expect(resolveRoots(path.join(base, 'sub'), [])).toEqual([base]);
    } finally {
      process.env['PATH'] = before;
    }
  });

  test('a nested repository is its own', () => {
    const base = createDirectory({ '.git/HEAD': '', 'inner/.git': '', 'inner/a/x': '' });
    expect(resolveRoots(path.join(base, 'inner/a'), [])).toEqual([path.join(base, 'inner')]);
  });

  test('default to the current directory without git', () => {
    const base = createDirectory({ 'a/x': '' });
    expect(resolveRoots(path.join(base, 'a'), [])).toEqual([path.join(base, 'a')]);
  });

  test('are found from the real directory when the current one is a link', () => {
    const base = createDirectory({ 'repo/.git/HEAD': '', 'repo/sub/x': '' });
    symlinkSync(path.join(base, 'repo/sub'), path.join(base, 'link'));
    expect(resolveRoots(path.join(base, 'link'), [])).toEqual([path.join(base, 'repo')]);
  });

  test('that are named are real, relative to the current directory, and each once', () => {
    const base = createDirectory({ 'one/x': '', 'two/x': '', '.git/HEAD': '' });
    symlinkSync(path.join(base, 'two'), path.join(base, 'also-two'));
    const roots = ['two', 'one', 'also-two', './one/', path.join(base, 'two')];
    expect(resolveRoots(base, roots)).toEqual([path.join(base, 'two'), path.join(base, 'one')]);
  });

  test.each([
    ['nothing', 'gone'],
    ['a file', 'file'],
  ])('must be directories; %s is refused', (found, root) => {
    const base = createDirectory({ file: '' });
    expect(() => resolveRoots(base, [root])).toThrow(
      expect.objectContaining({
        code: 'USAGE_INVALID',
        message: `a workspace root should be a directory, found ${found} at ${path.join(base, root)}`,
      }),
    );
  });

  test('a current directory that does not exist is refused, although a repository is above it', () => {
    const base = createDirectory({ '.git/HEAD': '' });
    expect(() => resolveRoots(path.join(base, 'gone'), [])).toThrow(
      expect.objectContaining({ code: 'USAGE_INVALID' }),
    );
  });
});

describe('where Cline hooks may lie', () => {
  const around = (input: object = {}) => ({
    surroundings: {
      cwd: '/w',
      env: {},
      platform: 'linux',
      home: '/home/me',
      nodePath: '/n',
      ...input,
    } as const,
    workspaceRoots: ['/w'],
  });

  test('by default in documents and in ~/.cline', () => {
    expect(findHookPlaces(around())).toEqual({
      home: '/home/me',
      documents: ['/home/me/Documents'],
      clineDirectory: '/home/me/.cline',
      workspaceRoots: ['/w'],
      hooksDirectory: null,
    });
  });

  test('without a home only in the workspace', () => {
    expect(findHookPlaces(around({ home: null }))).toMatchObject({
      home: null,
      documents: [],
      clineDirectory: null,
    });
  });

  test('where the environment points', () => {
    const env = { CLINE_DIR: '/cline', CLINE_HOOKS_DIR: 'extra' };
    expect(findHookPlaces(around({ env }))).toMatchObject({
      clineDirectory: '/cline',
      hooksDirectory: '/w/extra',
    });
  });

  test('where the environment points, relative to the start directory', () => {
    expect(findHookPlaces(around({ env: { CLINE_DIR: 'cline' } }))).toMatchObject({
      clineDirectory: '/w/cline',
    });
  });

  test('where the caller points, over the environment', () => {
    const env = { CLINE_HOOKS_DIR: '/from-env' };
    expect(findHookPlaces(around({ env }), 'given')).toMatchObject({
      hooksDirectory: '/w/given',
    });
  });

  test('in the documents directory that the desktop redirects to', () => {
    const home = createDirectory({
      '.config/user-dirs.dirs':
        '# c\nXDG_DESKTOP_DIR="$HOME/D"\nXDG_DOCUMENTS_DIR="$HOME/Dokumente"\n',
    });
    expect(findHookPlaces(around({ home })).documents).toEqual([
      path.join(home, 'Documents'),
      path.join(home, 'Dokumente'),
    ]);
  });

  test('in another settings directory of the desktop', () => {
    const home = createDirectory({ 'conf/user-dirs.dirs': 'XDG_DOCUMENTS_DIR="/data/docs"\n' });
    const env = { XDG_CONFIG_HOME: path.join(home, 'conf') };
    expect(findHookPlaces(around({ home, env })).documents).toEqual([
      path.join(home, 'Documents'),
      '/data/docs',
    ]);
  });

  test.each(['XDG_DOCUMENTS_DIR="$HOME"', 'XDG_DOCUMENTS_DIR="relative"', 'nonsense', ''])(
    'the desktop’s %j redirects nothing',
    (line) => {
      const home = createDirectory({ '.config/user-dirs.dirs': line });
      expect(findHookPlaces(around({ home })).documents).toEqual([path.join(home, 'Documents')]);
    },
  );

  test('the desktop’s file cannot stop discovery', () => {
    const home = createDirectory();
    mkdirSync(path.join(home, '.config/user-dirs.dirs'), { recursive: true });
    expect(findHookPlaces(around({ home })).documents).toEqual([path.join(home, 'Documents')]);
  });

  test('on Windows in the cloud’s documents, too', () => {
    const surroundings = { platform: 'win32', env: { OneDrive: '/cloud' } };
    expect(findHookPlaces(around(surroundings)).documents).toEqual([
      '/home/me/Documents',
      path.join('/cloud', 'Documents'),
    ]);
  });
});

test('a home directory that holds $ signs is used as it is', () => {
  const home = path.join(createDirectory(), 'a$&b');
  write(path.join(home, '.config/user-dirs.dirs'), 'XDG_DOCUMENTS_DIR="$HOME/D"\n');
  const surroundings = { cwd: '/w', env: {}, platform: 'linux', home, nodePath: '/n' } as const;
  const { documents } = findHookPlaces({ surroundings, workspaceRoots: [] });
  expect(documents).toEqual([path.join(home, 'Documents'), path.join(home, 'D')]);
});

describe('hook files in a start directory that is no root', () => {
  const NAMES = ['.clinerules/hooks', '.cline/hooks', '.cline/hooks.json', '.cline/plugins'];
  const OTHERS = ['.claude/settings.json', '.claude/hooks', '.hookline/config.json'];

  test('are reported, those of each dialect', () => {
    const files = [...NAMES, ...OTHERS].map((name) => [`repo/sub/${name}`, '']);
    const base = createDirectory(Object.fromEntries(files));
    const [root, start] = [path.join(base, 'repo'), path.join(base, 'repo/sub')];
    const find = (workspaceRoots: readonly string[], home: string | null) =>
      findPathsOutsideRoots(start, { workspaceRoots, home }).map((each) => each.path);
    expect(find([root], null)).toEqual(NAMES.map((name) => path.join(start, name)));
    expect([find([root, start], null), find([root], start)]).toEqual([[], []]);
  });
});
