import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBranchReader } from '../../src/sessions/git-branch.ts';
import { createDirectory, write } from '../base/directory.ts';

const hasFifo = spawnSync('sh', ['-c', 'command -v mkfifo']).status === 0;

describe('the branch of a directory', () => {
  it('is read from git’s own files, wherever above it they are', () => {
    const directory = createDirectory({
      '.git/HEAD': 'ref: refs/heads/feature/a\n',
      'deep/down/file': '',
      'detached/.git/HEAD': '0123456789abcdef\n',
      'worktree/.git': 'gitdir: ../.git/worktrees/one\n',
      '.git/worktrees/one/HEAD': 'ref: refs/heads/other\n',
      'empty/.git/HEAD': '',
      'broken/.git': 'nonsense',
      'remote/.git': 'gitdir: //other-machine/share\n',
    });
    const branches = ['.', 'deep/down', 'detached', 'worktree', 'empty', 'broken', 'remote'].map(
      (name) => [name, createBranchReader(path.join(directory, name))()],
    );
    expect(Object.fromEntries(branches)).toEqual({
      '.': 'feature/a',
      'deep/down': 'feature/a',
      detached: 'HEAD',
      worktree: 'other',
      empty: '',
      broken: '',
      remote: '',
    });
  });

  it('is empty where there is no repository, and where there is no directory', () => {
    const directory = createDirectory();
    expect(createBranchReader(directory)()).toBe('');
    expect(createBranchReader(path.join(directory, 'gone'))()).toBe('');
    expect(createBranchReader('')()).toBe('');
  });

  it.skipIf(!hasFifo)('waits for no file that a repository puts there', () => {
    const directory = createDirectory({ '.git/config': '' });
    spawnSync('mkfifo', [path.join(directory, '.git/HEAD')]);
    expect(createBranchReader(directory)()).toBe('');
    const other = createDirectory();
    spawnSync('mkfifo', [path.join(other, '.git')]);
    expect(createBranchReader(other)()).toBe('');
    const huge = createDirectory();
    write(path.join(huge, '.git/HEAD'), `ref: refs/heads/${'x'.repeat(1_000_000)}`);
    expect(createBranchReader(huge)().length).toBeLessThan(5000);
  });
});
