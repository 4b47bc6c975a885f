import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findRealPath } from '../base/paths.ts';
import type { ProtectedPlace } from '../process/sandbox/profile.ts';

/** What a sandbox must know of the git directory of a workspace root. */
export interface GitPlaces {
  /** Git directories outside of the root, which a worktree shares with its main checkout. */
  readonly writable: readonly string[];
  /** What steers git. */
  readonly protected: readonly ProtectedPlace[];
}

/** Reads files only: a git program would obey the configuration that it reads. */
export function findGitPlaces(root: string): GitPlaces {
  const dotGit = path.join(root, '.git');
  const stats = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return { writable: [], protected: listSteering(dotGit) };
  if (stats?.isFile() === true) {
    const worktree = findWorktree(dotGit);
    if (worktree !== null) return worktree;
  }
  return { writable: [], protected: [{ path: dotGit }] };
}

/** A directory as placeholder would make git fail here, and this text means what its absence means. */
function listSteering(gitDirectory: string): readonly ProtectedPlace[] {
  const names = ['config', 'hooks', 'info', 'modules', ...listIfPresent(gitDirectory)];
  return [
    ...names.map((name) => ({ path: path.join(gitDirectory, name) })),
    { path: path.join(gitDirectory, 'commondir'), absentText: `${gitDirectory}\n` },
  ];
}

/** `config.worktree` is read only when the configuration, which is protected, says so. */
function listIfPresent(gitDirectory: string): readonly string[] {
  const config = readShortText(path.join(gitDirectory, 'config')) ?? '';
  const optional = ['worktrees', ...(/worktreeconfig/i.test(config) ? [] : ['config.worktree'])];
  const present = optional.filter((name) => exists(path.join(gitDirectory, name)));
  return /worktreeconfig/i.test(config) ? [...present, 'config.worktree'] : present;
}

/**
 * A worktree's git directory counts only when it points back at the worktree: a repository could name
 * the git directory of another one.
 */
function findWorktree(dotGit: string): GitPlaces | null {
  const own = resolveNamed(dotGit, /^gitdir: (.+)$/m);
  if (own === null || resolveNamed(path.join(own, 'gitdir'), /^(.+)$/m) !== dotGit) return null;
  const common = resolveNamed(path.join(own, 'commondir'), /^(.+)$/m);
  if (common === null || path.dirname(path.dirname(own)) !== common) return null;
  const steering = listSteering(common).filter(
    ({ path: place }) => path.basename(place) !== 'worktrees',
  );
  const inOwn = ['commondir', 'gitdir', 'config.worktree', 'hooks'];
  return {
    writable: [common],
    protected: [
      { path: dotGit },
      ...steering,
      ...inOwn
        .filter((name) => exists(path.join(own, name)))
        .map((name) => ({ path: path.join(own, name) })),
    ],
  };
}

/** The real path that a file names, relative to its own directory. */
function resolveNamed(file: string, pattern: RegExp): string | null {
  const [, name] = pattern.exec(readShortText(file) ?? '') ?? [];
  return name === undefined ? null : findRealPath(path.resolve(path.dirname(file), name.trim()));
}

const MAX_BYTES = 1024 * 1024;

function readShortText(file: string): string | null {
  try {
    const stats = lstatSync(file);
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}

function exists(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
