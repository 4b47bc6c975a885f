import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { WorkspaceInfo } from '../../../plugins/contract/plugin.ts';
import { createBranchReader } from '../../../sessions/git-branch.ts';

/** What plugins are told of the workspace; git is read from its files, and no program is started. */
export function readWorkspaceInfo(rootPath: string): WorkspaceInfo {
  const branch = createBranchReader(rootPath)();
  const git = quietly(() => findGitDirectory(rootPath));
  const urls = git === null ? [] : (quietly(() => remoteUrls(git)) ?? []);
  const hash = git === null ? null : quietly(() => headHash(git));
  return {
    rootPath,
    hint: path.basename(rootPath),
    ...(urls.length === 0 ? {} : { associatedRemoteUrls: urls }),
    ...(hash === null ? {} : { latestGitCommitHash: hash }),
    ...(branch === '' || branch === 'HEAD' ? {} : { latestGitBranchName: branch }),
  };
}

function quietly<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function findGitDirectory(directory: string): string | null {
  for (let current = directory; ; current = path.dirname(current)) {
    const git = path.join(current, '.git');
    if (statSync(git, { throwIfNoEntry: false })?.isDirectory() === true) return git;
    if (path.dirname(current) === current) return null;
  }
}

/** As they are told, without the names and passwords that some have in them. */
function remoteUrls(git: string): string[] {
  const config = readFileSync(path.join(git, 'config'), 'utf8');
  const urls = [...config.matchAll(/^\s*url\s*=\s*(\S+)\s*$/gmu)].map(([, url = '']) => url);
  return urls.map((url) => url.replace(/^(https?:\/\/)[^/@]*@/u, '$1'));
}

const HASH = /^[0-9a-f]{40,64}$/u;

function headHash(git: string): string | null {
  const head = readFileSync(path.join(git, 'HEAD'), 'utf8').trim();
  if (HASH.test(head)) return head;
  const [, ref] = /^ref: (refs\/\S+)$/u.exec(head) ?? [];
  if (ref === undefined || ref.includes('..')) return null;
  const loose = quietly(() => readFileSync(path.join(git, ref), 'utf8').trim());
  if (loose !== null && HASH.test(loose)) return loose;
  const packed = quietly(() => readFileSync(path.join(git, 'packed-refs'), 'utf8')) ?? '';
  const line = packed.split('\n').find((each) => each.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? null;
}
