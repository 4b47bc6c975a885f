import { readFileSync } from 'node:fs';
import path from 'node:path';
import { tryOrNull } from '../../base/errors.ts';
import type { WorkspaceInfo } from '../../plugins/contract/plugin.ts';
import { createBranchReader, findGitDirectory } from '../../sessions/git-branch.ts';

/** What plugins are told of the workspace; git is read from its files, and no program is started. */
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
  const named = tryOrNull(() => readFileSync(path.join(git, 'commondir'), 'utf8').trim()) ?? '';
  // Merely looking at a share of another machine would send it the person's name.
  return named === '' || /^[/\\]{2}/u.test(named) ? git : path.resolve(git, named);
}

/** As they are told, without the names and passwords that some have in them. */
function readRemoteUrls(git: string): string[] {
  const config = readFileSync(path.join(findSharedDirectory(git), 'config'), 'utf8');
  const urls = [...config.matchAll(/^\s*url\s*=\s*(\S+)\s*$/gmu)].map(([, url = '']) => url);
  return urls.map((url) => url.replace(/^(https?:\/\/)[^/@]*@/u, '$1'));
}

const HASH = /^[0-9a-f]{40,64}$/u;

function readHeadHash(git: string): string | null {
  const head = readFileSync(path.join(git, 'HEAD'), 'utf8').trim();
  if (HASH.test(head)) return head;
  const [, ref] = /^ref: (refs\/\S+)$/u.exec(head) ?? [];
  if (ref === undefined || ref.includes('..')) return null;
  const shared = findSharedDirectory(git);
  const loose = tryOrNull(() => readFileSync(path.join(shared, ref), 'utf8').trim());
  if (loose !== null && HASH.test(loose)) return loose;
  const packed = tryOrNull(() => readFileSync(path.join(shared, 'packed-refs'), 'utf8')) ?? '';
  const line = packed.split('\n').find((each) => each.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? null;
}
