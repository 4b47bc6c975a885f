import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { DirectoryLocks } from '../sessions/session-locks.ts';
import { getErrorMessage } from '../base/errors.ts';
import { isDirectory, readTextIfPresent } from '../base/files.ts';
import { resolveTarget } from '../base/paths.ts';
import type { Environment } from '../process/environment.ts';
import { removeRepositoryVariables } from '../process/git/git-profile.ts';
import { createGitProfiles } from '../process/git/git-profiles.ts';
import { runProgram } from '../process/run.ts';
import { cleanEnvironment, listUntrustedDirectories } from '../process/search-path.ts';

/**
 * Creates a worktree of one repository with git, or reuses the one of this name. A returned string is
 * the reason of a failure.
 */
export type CreateGitWorktree = (name: string) => Promise<GitWorktree | string>;

export interface GitWorktree {
  readonly path: string;
  readonly isNew: boolean;
  /** Whether it has no change, no untracked file and no new commit. */
  isUnchanged(): Promise<boolean>;
  /** Releases it; returns whether no other process uses it. */
  leave(): boolean;
  /** Null on success. */
  remove(): Promise<string | null>;
}

const DIRECTORY = '.worktrees';

/** `root` is the repository's top directory. */
export function createGitWorktrees(root: string, env: Readonly<Environment>): CreateGitWorktree {
  const git = createHardenedGit(root, env);
  return async (name) => {
    const directory = path.join(root, DIRECTORY, name);
    const elsewhere = findOtherPlace(root, directory);
    if (elsewhere !== null) return elsewhere;
    const branch = `worktree-${name}`;
    const isNew = !isDirectory(directory);
    const isBranchNew = !(await git(root, ...SHOW_BRANCH, `refs/heads/${branch}`)).isFine;
    const paths = { root, directory, branch, isBranchNew };
    const problem = isNew ? await addWorktree(git, paths) : null;
    if (problem !== null) return problem;
    return enterWorktree(git, { ...paths, isNew });
  };
}

/** A repository may contain a link in place of the directory, which leads out of the workspace. */
function findOtherPlace(root: string, directory: string): string | null {
  const { path: target, isCertain } = resolveTarget(directory);
  const expected = path.join(resolveTarget(root).path, path.relative(root, directory));
  if (isCertain && target === expected) return null;
  return `expected a worktree in ${expected}, found a link to ${target}; remove the link`;
}

async function enterWorktree(
  git: Git,
  paths: WorktreePaths & { readonly isNew: boolean },
): Promise<GitWorktree | string> {
  const { directory, isNew } = paths;
  const base = await git(directory, 'rev-parse', 'HEAD');
  if (!base.isFine) return base.text;
  const gitDirectory = await git(directory, 'rev-parse', '--absolute-git-dir');
  if (!gitDirectory.isFine) return gitDirectory.text;
  const locks = new DirectoryLocks(gitDirectory.text);
  const release = acquireLock(locks);
  return {
    path: directory,
    isNew,
    isUnchanged: () => isUnchanged(git, directory, base.text),
    leave() {
      release();
      return locks.findOtherOwner() === null;
    },
    remove: () => removeWorktree(git, paths),
  };
}

/** Two hosts of one process may use it; then they share one lock. */
function acquireLock(locks: DirectoryLocks): () => void {
  try {
    return locks.acquire();
  } catch {
    return () => undefined;
  }
}

const SHOW_BRANCH = ['rev-parse', '--verify', '--quiet'] as const;

type Git = (directory: string, ...args: readonly string[]) => Promise<GitAnswer>;

interface WorktreePaths {
  readonly root: string;
  readonly directory: string;
  readonly branch: string;
  readonly isBranchNew: boolean;
}

async function addWorktree(git: Git, paths: WorktreePaths): Promise<string | null> {
  const { root, directory, branch, isBranchNew } = paths;
  const what = isBranchNew ? ['-b', branch, directory] : [directory, branch];
  const added = await git(root, 'worktree', 'add', '--quiet', ...what);
  if (!added.isFine) return added.text;
  return hideFromStatus(git, root);
}

/** Adds it to info/exclude, which is never committed. */
async function hideFromStatus(git: Git, root: string): Promise<string | null> {
  const { isFine, text } = await git(root, 'rev-parse', '--git-path', 'info/exclude');
  if (!isFine) return text;
  const file = path.resolve(root, text);
  const line = `/${DIRECTORY}/`;
  try {
    const currentText = readTextIfPresent(file) ?? '';
    if (currentText.split('\n').includes(line)) return null;
    mkdirSync(path.dirname(file), { recursive: true });
    const gap = currentText === '' || currentText.endsWith('\n') ? '' : '\n';
    appendFileSync(file, `${gap}${line}\n`);
    return null;
  } catch (error) {
    return getErrorMessage(error);
  }
}

/** Git would start itself in each submodule; it refuses to remove a worktree that has one. */
const STAYS_OUT = '--ignore-submodules=dirty';

async function isUnchanged(git: Git, directory: string, base: string): Promise<boolean> {
  const [status, head] = await Promise.all([
    git(directory, 'status', '--porcelain', '--untracked-files=normal', '--ignored', STAYS_OUT),
    git(directory, 'rev-parse', 'HEAD'),
  ]);
  return status.isFine && status.text === '' && head.isFine && head.text === base;
}

/** Deletes only a branch that was created with the worktree: an older one may have unmerged commits. */
async function removeWorktree(git: Git, paths: WorktreePaths): Promise<string | null> {
  const { root, directory, branch, isBranchNew } = paths;
  const removed = await git(root, 'worktree', 'remove', directory);
  if (!removed.isFine) return removed.text;
  if (!isBranchNew) return null;
  const deleted = await git(root, 'branch', '--quiet', '-d', branch);
  return deleted.isFine ? null : deleted.text;
}

interface GitAnswer {
  readonly isFine: boolean;
  /** The output, or the reason of the failure. */
  readonly text: string;
}

const TIME_LIMIT_MS = 120_000;

/** Nobody confirmed what the configuration of the repository names, so none of it runs. */
function createHardenedGit(root: string, sessionEnv: Readonly<Environment>): Git {
  const untrusted = listUntrustedDirectories([root], sessionEnv['HOME'] ?? null);
  const env = removeRepositoryVariables(cleanEnvironment(sessionEnv, untrusted, process.platform));
  const findProfile = createGitProfiles(env, process.platform);
  return async (directory, ...args) => {
    const profile = findProfile(directory, [root]);
    if (typeof profile === 'string') return { isFine: false, text: profile };
    return runGit(profile.program, directory, { ...env, ...profile.variables }, args);
  };
}

async function runGit(
  file: string,
  directory: string,
  env: Readonly<Environment>,
  args: readonly string[],
): Promise<GitAnswer> {
  const result = await runProgram({
    file,
    args,
    cwd: directory,
    env,
    stdin: '',
    timeoutMs: TIME_LIMIT_MS,
  });
  const trimOutput = (output: { readonly text: string }): string => output.text.trim();
  if (result.exitCode === 0) return { isFine: true, text: trimOutput(result.stdout) };
  const problem =
    result.spawnError?.message ?? (trimOutput(result.stderr) || `git ${args[0]} failed`);
  return { isFine: false, text: problem };
}
