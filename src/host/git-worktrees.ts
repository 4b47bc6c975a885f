import { appendFileSync, mkdirSync } from 'node:fs';
import { devNull } from 'node:os';
import path from 'node:path';
import { openDirectoryLocks, type DirectoryLocks } from '../sessions/session-locks.ts';
import { getErrorMessage } from '../base/errors.ts';
import { isDirectory, readTextIfPresent } from '../base/files.ts';
import type { Environment } from '../process/environment.ts';
import { runProgram } from '../process/run.ts';

/** Worktrees of one repository, made with the git program. Every string that comes back says why not. */
export interface GitWorktrees {
  /** One of this name that is there already is taken as it is. */
  create(name: string): Promise<GitWorktree | string>;
}

export interface GitWorktree {
  readonly path: string;
  readonly isNew: boolean;
  /** Whether nothing would be lost with it: no change, no file, no commit of its own. */
  isUnchanged(): Promise<boolean>;
  /** Tells other processes that this one is done with it; whether none of them is in it. */
  leave(): boolean;
  /** Null when it is gone. */
  remove(): Promise<string | null>;
}

export interface GitPlace {
  /** The repository's top directory. */
  readonly root: string;
  readonly env: Readonly<Environment>;
}

const DIRECTORY = '.worktrees';

export function createGitWorktrees(place: GitPlace): GitWorktrees {
  const { root } = place;
  const git = (directory: string, ...args: readonly string[]): Promise<GitAnswer> =>
    runGit({ ...place, root: directory }, args);
  return {
    async create(name) {
      const directory = path.join(root, DIRECTORY, name);
      const branch = `worktree-${name}`;
      const isNew = !isDirectory(directory);
      const isBranchNew = !(await git(root, ...SHOW_BRANCH, `refs/heads/${branch}`)).isFine;
      const wanted = { root, directory, branch, isBranchNew };
      const problem = isNew ? await addWorktree(git, wanted) : null;
      if (problem !== null) return problem;
      return enterWorktree(git, { ...wanted, isNew });
    },
  };
}

async function enterWorktree(
  git: Git,
  wanted: Wanted & { readonly isNew: boolean },
): Promise<GitWorktree | string> {
  const { directory, isNew } = wanted;
  const base = await git(directory, 'rev-parse', 'HEAD');
  if (!base.isFine) return base.text;
  const place = await git(directory, 'rev-parse', '--absolute-git-dir');
  if (!place.isFine) return place.text;
  const claims = openDirectoryLocks(place.text);
  const release = claim(claims);
  return {
    path: directory,
    isNew,
    isUnchanged: () => isUnchanged(git, directory, base.text),
    leave() {
      release();
      return claims.findOtherOwner() === null;
    },
    remove: () => removeWorktree(git, wanted),
  };
}

/** Two hosts of one process may be in it; then one mark stands for both. */
function claim(claims: DirectoryLocks): () => void {
  try {
    return claims.acquire();
  } catch {
    return () => undefined;
  }
}

const SHOW_BRANCH = ['rev-parse', '--verify', '--quiet'] as const;

type Git = (directory: string, ...args: readonly string[]) => Promise<GitAnswer>;

interface Wanted {
  readonly root: string;
  readonly directory: string;
  readonly branch: string;
  readonly isBranchNew: boolean;
}

async function addWorktree(git: Git, wanted: Wanted): Promise<string | null> {
  const { root, directory, branch, isBranchNew } = wanted;
  const what = isBranchNew ? ['-b', branch, directory] : [directory, branch];
  const added = await git(root, 'worktree', 'add', '--quiet', ...what);
  if (!added.isFine) return added.text;
  return hideFromStatus(git, root);
}

/** In a file that is never committed, so that the repository's own files stay as they are. */
async function hideFromStatus(git: Git, root: string): Promise<string | null> {
  const { isFine, text } = await git(root, 'rev-parse', '--git-path', 'info/exclude');
  if (!isFine) return text;
  const file = path.resolve(root, text);
  const line = `/${DIRECTORY}/`;
  try {
    const written = readTextIfPresent(file) ?? '';
    if (written.split('\n').includes(line)) return null;
    mkdirSync(path.dirname(file), { recursive: true });
    const gap = written === '' || written.endsWith('\n') ? '' : '\n';
    appendFileSync(file, `${gap}${line}\n`);
    return null;
  } catch (error) {
    return getErrorMessage(error);
  }
}

async function isUnchanged(git: Git, directory: string, base: string): Promise<boolean> {
  const [status, head] = await Promise.all([
    git(directory, 'status', '--porcelain', '--untracked-files=normal', '--ignored'),
    git(directory, 'rev-parse', 'HEAD'),
  ]);
  return status.isFine && status.text === '' && head.isFine && head.text === base;
}

/** A branch that was there before may hold what is nowhere else. */
async function removeWorktree(git: Git, wanted: Wanted): Promise<string | null> {
  const { root, directory, branch, isBranchNew } = wanted;
  const removed = await git(root, 'worktree', 'remove', directory);
  if (!removed.isFine) return removed.text;
  if (!isBranchNew) return null;
  const dropped = await git(root, 'branch', '--quiet', '-d', branch);
  return dropped.isFine ? null : dropped.text;
}

interface GitAnswer {
  readonly isFine: boolean;
  /** What it printed, or why it failed. */
  readonly text: string;
}

const TIME_LIMIT_MS = 120_000;
// A repository that was not cloned may bring programs in its `.git`, which nobody has looked at.
const NO_PROGRAMS = ['-c', `core.hooksPath=${devNull}`, '-c', 'core.fsmonitor=false'];

async function runGit({ root, env }: GitPlace, args: readonly string[]): Promise<GitAnswer> {
  const result = await runProgram({
    file: 'git',
    args: [...NO_PROGRAMS, ...args],
    cwd: root,
    env,
    stdin: '',
    timeoutMs: TIME_LIMIT_MS,
  });
  const said = (output: { readonly text: string }): string => output.text.trim();
  if (result.exitCode === 0) return { isFine: true, text: said(result.stdout) };
  const why = result.spawnError?.message ?? (said(result.stderr) || `git ${args[0]} failed`);
  return { isFine: false, text: why };
}
