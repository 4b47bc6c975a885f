import path from 'node:path';
import { expect, it } from 'vitest';
import { readWorkspaceInfo } from '../../../src/host/plugins/workspace-info.ts';
import { createDirectory } from '../../base/directory.ts';

const HASH = 'a'.repeat(40);

it('plugins receive the workspace and its repository, without passwords', () => {
  const root = createDirectory({
    'ws/.git/HEAD': 'ref: refs/heads/main\n',
    'ws/.git/refs/heads/main': `${HASH}\n`,
    'ws/.git/config': '[remote "origin"]\n\turl = https://me:secret@example.com/a.git\n',
  });
  const rootPath = path.join(root, 'ws');
  expect(readWorkspaceInfo(rootPath)).toEqual({
    rootPath,
    hint: 'ws',
    associatedRemoteUrls: ['https://example.com/a.git'],
    latestGitCommitHash: HASH,
    latestGitBranchName: 'main',
  });
});

it('outside of a repository there is only the directory', () => {
  const rootPath = createDirectory({ 'a.txt': '' });
  expect(readWorkspaceInfo(rootPath)).toEqual({ rootPath, hint: path.basename(rootPath) });
});

it('a worktree has a branch and a commit of its own, and the remotes of its repository', () => {
  const root = createDirectory({
    'main/.git/HEAD': 'ref: refs/heads/main\n',
    'main/.git/refs/heads/main': `${'b'.repeat(40)}\n`,
    'main/.git/refs/heads/topic': `${HASH}\n`,
    'main/.git/config': '[remote "origin"]\n\turl = https://example.com/a.git\n',
    'main/.git/worktrees/copy/HEAD': 'ref: refs/heads/topic\n',
    'main/.git/worktrees/copy/commondir': '../..\n',
    'copy/.git': 'gitdir: ../main/.git/worktrees/copy\n',
  });
  const rootPath = path.join(root, 'copy');
  expect(readWorkspaceInfo(rootPath)).toEqual({
    rootPath,
    hint: 'copy',
    associatedRemoteUrls: ['https://example.com/a.git'],
    latestGitCommitHash: HASH,
    latestGitBranchName: 'topic',
  });
});

it('a submodule is a repository of its own, and not the one that it lies in', () => {
  const root = createDirectory({
    'ws/.git/HEAD': 'ref: refs/heads/main\n',
    'ws/.git/refs/heads/main': `${'b'.repeat(40)}\n`,
    'ws/.git/config': '[remote "origin"]\n\turl = https://example.com/outer.git\n',
    'ws/.git/modules/inner/HEAD': `${HASH}\n`,
    'ws/.git/modules/inner/config': '[remote "origin"]\n\turl = https://example.com/inner.git\n',
    'ws/inner/.git': 'gitdir: ../.git/modules/inner\n',
  });
  const rootPath = path.join(root, 'ws/inner');
  expect(readWorkspaceInfo(rootPath)).toEqual({
    rootPath,
    hint: 'inner',
    associatedRemoteUrls: ['https://example.com/inner.git'],
    latestGitCommitHash: HASH,
  });
});
