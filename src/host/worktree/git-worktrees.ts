import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { isDirectory, readTextIfPresent } from '../../base/files.ts';
import type { Environment } from '../../process/environment.ts';
import { runProgram } from '../../process/run.ts';

/** Worktrees of one repository, made with the git program. Every string that comes back says why not. */
export interface GitWorktrees {
  /** One of this name that is there already is taken as it is. */
  create(name: string): Promise<GitWorktree | string>;
}

export interface GitWorktree {
  readonly path: string;
  readonly isNew: boolean;
  /** Whether nothing would be lost with it. */
  isUnchanged(): Promise<boolean>;
  /** Null when it is gone. */
  remove(): Promise<string | null>;
}

export interface GitPlace {
  /** The repository's top directory. */
  readonly root: string;
  readonly env: Readonly<Environment>;
}

const DIRECTORY = '.worktrees';

export function gitWorktrees(place: GitPlace): GitWorktrees {
  const { root } = place;
  const git = (directory: string, ...args: readonly string[]): Promise<GitAnswer> =>
    runGit({ ...place, root: directory }, args);
  return {
    async create(name) {
      const directory = path.join(root, DIRECTORY, name);
      const branch = `worktree-${name}`;
      const isNew = !isDirectory(directory);
      if (isNew) {
        const problem = await addWorktree(git, { root, directory, branch });
        if (problem !== null) return problem;
      }
      const base = await git(directory, 'rev-parse', 'HEAD');
      if (!base.isFine) return base.text;
      return {
        path: directory,
        isNew,
        isUnchanged: () => isUnchanged(git, directory, base.text),
        remove: () => removeWorktree(git, { root, directory, branch }),
      };
    },
  };
}

type Git = (directory: string, ...args: readonly string[]) => Promise<GitAnswer>;

interface Wanted {
  readonly root: string;
  readonly directory: string;
  readonly branch: string;
}

async function addWorktree(git: Git, { root, directory, branch }: Wanted): Promise<string | null> {
  const known = await git(root, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  const what = known.isFine ? [directory, branch] : ['-b', branch, directory];
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
    return messageOf(error);
  }
}

async function isUnchanged(git: Git, directory: string, base: string): Promise<boolean> {
  const [status, head] = await Promise.all([
    git(directory, 'status', '--porcelain', '--untracked-files=normal'),
    git(directory, 'rev-parse', 'HEAD'),
  ]);
  return status.isFine && status.text === '' && head.isFine && head.text === base;
}

async function removeWorktree(git: Git, { root, directory, branch }: Wanted) {
  const removed = await git(root, 'worktree', 'remove', directory);
  if (!removed.isFine) return removed.text;
  const dropped = await git(root, 'branch', '--quiet', '-D', branch);
  return dropped.isFine ? null : dropped.text;
}

interface GitAnswer {
  readonly isFine: boolean;
  /** What it printed, or why it failed. */
  readonly text: string;
}

const TIME_LIMIT_MS = 120_000;

async function runGit({ root, env }: GitPlace, args: readonly string[]): Promise<GitAnswer> {
  const result = await runProgram({
    file: 'git',
    args,
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
