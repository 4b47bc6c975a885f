import { readRegularFile } from '../../base/files.ts';
import path from 'node:path';
import { tryOrNull } from '../../base/errors.ts';
import type { WorkspaceInfo } from '../../plugins/contract/plugin.ts';
import { createBranchReader, findGitDirectory } from '../../sessions/git-branch.ts';

/** Reads the workspace info for plugins from git's files, without starting a program. */
export function readWorkspaceInfo(rootPath: string): WorkspaceInfo {
  const branch = createBranchReader(rootPath)();
  const git = tryOrNull(() => findGitDirectory(rootPath));
  const urls = git === null ? [] : (tryOrNull(() => readRemoteUrls(git)) ?? []);
  const hash = git === null ? null : tryOrNull(() => readHeadHash(git));
  return {
    rootPath,
    hint: path.basename(rootPath),
    ...(urls.length === 0 ? {} : { associatedRemoteUrls: urls }),
    ...(hash === null ? {} : { latestGitCommitHash: hash }),
    ...(branch === '' || branch === 'HEAD' ? {} : { latestGitBranchName: branch }),
  };
}

/** A worktree has its own HEAD; remotes and branches are those of its repository. */
function findSharedDirectory(git: string): string {
  const commonDirectory =
    tryOrNull(() => readRegularFile(path.join(git, 'commondir')).toString('utf8').trim()) ?? '';
  // Accessing a network share would send the user's name to another machine.
  return commonDirectory === '' || /^[/\\]{2}/u.test(commonDirectory)
    ? git
    : path.resolve(git, commonDirectory);
}

/** Removes names and passwords from the URLs. */
function readRemoteUrls(git: string): string[] {
  const config = readRegularFile(path.join(findSharedDirectory(git), 'config')).toString('utf8');
  const urls = [...config.matchAll(/^\s*url\s*=\s*(\S+)\s*$/gmu)].map(([, url = '']) => url);
  return urls.map((url) => url.replace(/^(https?:\/\/)[^/@]*@/u, '$1'));
}

const HASH = /^[0-9a-f]{40,64}$/u;

function readHeadHash(git: string): string | null {
  const head = readRegularFile(path.join(git, 'HEAD')).toString('utf8').trim();
  if (HASH.test(head)) return head;
  const [, ref] = /^ref: (refs\/\S+)$/u.exec(head) ?? [];
  if (ref === undefined || ref.includes('..')) return null;
  const shared = findSharedDirectory(git);
  const loose = tryOrNull(() => readRegularFile(path.join(shared, ref)).toString('utf8').trim());
  if (loose !== null && HASH.test(loose)) return loose;
  const packed =
    tryOrNull(() => readRegularFile(path.join(shared, 'packed-refs')).toString('utf8')) ?? '';
  const line = packed.split('\n').find((each) => each.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? null;
}
