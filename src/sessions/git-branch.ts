import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Reads the current branch of a directory from `.git/HEAD`, synchronously and without starting git.
 * `HEAD` for a detached one, empty outside of a repository. The file is read again only when it has
 * changed.
 */
export function createBranchReader(directory: string): () => string {
  const headFile = directory === '' ? null : readOrDefault(null, () => findHeadFile(directory));
  let cached = { changedAt: -1, branch: '' };
  return () => {
    if (headFile === null) return '';
    const changedAt = readOrDefault(0, () => readModifiedTime(headFile));
    if (changedAt !== cached.changedAt) {
      cached = { changedAt, branch: readOrDefault('', () => readBranchName(headFile)) };
    }
    return cached.branch;
  };
}

/** A file that is not accessible counts as absent. */
function readOrDefault<Value>(fallback: Value, read: () => Value): Value {
  try {
    return read();
  } catch {
    return fallback;
  }
}

function findHeadFile(directory: string): string | null {
  const git = findGitDirectory(directory);
  return git === null ? null : path.join(git, 'HEAD');
}

/** The git directory of the working tree that contains a directory; null outside of one. May throw. */
export function findGitDirectory(directory: string): string | null {
  for (let current = directory; ; current = path.dirname(current)) {
    const git = path.join(current, '.git');
    const stats = statSync(git, { throwIfNoEntry: false });
    if (stats !== undefined) return stats.isDirectory() ? git : readGitLink(git);
    if (path.dirname(current) === current) return null;
  }
}

/** In a worktree or submodule `.git` is a file with the path of the git directory. */
function readGitLink(gitFile: string): string {
  const [, target = ''] = /^gitdir: (.+)$/mu.exec(readStart(gitFile)) ?? [];
  // On Windows, a stat of a network share would send the user's credentials to it.
  const isNetworkPath = /^[/\\]{2}/u.test(target);
  return isNetworkPath ? gitFile : path.resolve(path.dirname(gitFile), target);
}

function readBranchName(headFile: string): string {
  const head = readStart(headFile).trim();
  if (head === '') return '';
  return /^ref: refs\/heads\/(.+)$/u.exec(head)?.[1] ?? 'HEAD';
}

const START_BYTES = 4096;
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The first bytes of a file, which in a hostile repository may be anything; empty unless it is regular. */
function readStart(file: string): string {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return '';
  const handle = openSync(file, OPEN_FLAGS);
  try {
    const start = Buffer.alloc(START_BYTES);
    return start.toString('utf8', 0, readSync(handle, start, 0, START_BYTES, 0));
  } finally {
    closeSync(handle);
  }
}

function readModifiedTime(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
