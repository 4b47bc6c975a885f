import path from 'node:path';
import { expect, it } from 'vitest';
import { readWorkspaceInfo } from '../../../src/host/plugins/news/workspace-info.ts';
import { createDirectory } from '../../base/directory.ts';

const HASH = 'a'.repeat(40);

it('plugins are told of the workspace and of its repository, without passwords', () => {
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
