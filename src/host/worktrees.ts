import { memoize } from '../base/memoize.ts';
import type { RuntimeFacts } from '../agent/runtime-event.ts';
import type { Person } from '../agent/session-context.ts';
import { HooklineError } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { findRealPath } from '../base/paths.ts';
import { isRefusal, type Verdict } from '../hooks/decision.ts';
import type { HookEngine } from '../hooks/engine.ts';
import type { FiredEvent, Moment } from '../hooks/facts.ts';
import type { CreateGitWorktree, GitWorktree } from './git-worktrees.ts';

interface WorktreeUsage {
  readonly worktree: Promise<Worktree>;
  users: number;
}

/** The worktrees of one host's sessions. The last session in one closes it. */
export class Worktrees {
  readonly #inUse = new Map<string, WorktreeUsage>();

  async enter(request: WorktreeOptions): Promise<Worktree> {
    const { name } = request;
    const usage = this.#inUse.get(name) ?? { worktree: openWorktree(request), users: 0 };
    this.#inUse.set(name, usage);
    usage.users += 1;
    try {
      const worktree = await usage.worktree;
      const close = async (): Promise<void> => {
        if (this.#leave(name, usage)) await worktree.close();
      };
      return { path: worktree.path, close: memoize(close) };
    } catch (error) {
      this.#leave(name, usage);
      throw error;
    }
  }

  /** Returns whether no session uses it any more. */
  #leave(name: string, usage: WorktreeUsage): boolean {
    usage.users -= 1;
    if (usage.users > 0) return false;
    this.#inUse.delete(name);
    return true;
  }
}

/** A copy of the workspace for a session. */
export interface Worktree {
  /** Real path. */
  readonly path: string;
  /** Removes the copy when it has no changes. Never throws. */
  close(): Promise<void>;
}

interface WorktreeOptions {
  readonly name: string;
  readonly createWithGit: CreateGitWorktree;
  readonly engine: HookEngine;
  /** Fields of the session's events. */
  readonly moment: Partial<Moment>;
  readonly person: Person | null;
  readonly emit: (facts: RuntimeFacts) => void;
}

/**
 * Creates a worktree, or lets a hook create it; the only firing site of WorktreeCreate and
 * WorktreeRemove. Throws WORKTREE_FAILED.
 */
async function openWorktree(request: WorktreeOptions): Promise<Worktree> {
  checkName(request.name);
  const verdict = await fire(request, { name: 'WorktreeCreate', worktree: request.name });
  if (isRefusal(verdict.effect)) {
    throw createFailedError(verdict.reasons.map(({ text }) => text).join('\n'));
  }
  const directory = verdict.changes['worktreePath'];
  return typeof directory === 'string'
    ? openHookWorktree(request, directory)
    : openGitWorktree(request);
}

function checkName(name: string): void {
  if (/^[a-z0-9](?:[\w.-]*\w)?$/i.test(name) && !/\.\.|\.lock$/.test(name)) return;
  throw new HooklineError('USAGE_INVALID', {
    message: `a worktree’s name should be letters, digits, dots, dashes and underscores, found ${JSON.stringify(name)}`,
    hint: 'Name it after what is done in it: --worktree fix-login.',
  });
}

function openHookWorktree(request: WorktreeOptions, directory: string): Worktree {
  const realPath = isDirectory(directory) ? findRealPath(directory) : null;
  if (realPath === null) {
    throw createFailedError(
      `a WorktreeCreate hook returned ${directory}, which is not a directory`,
    );
  }
  return {
    path: realPath,
    async close() {
      // Only the hook knows whether it has changes.
      if (await shouldKeep(request, realPath)) {
        return notify(request, `the worktree ${realPath} is kept`);
      }
      await fire(request, { name: 'WorktreeRemove', path: realPath, cwd: realPath });
    },
  };
}

async function openGitWorktree(request: WorktreeOptions): Promise<Worktree> {
  const worktree = await request.createWithGit(request.name);
  if (typeof worktree === 'string') throw createFailedError(worktree);
  const realPath = findRealPath(worktree.path) ?? worktree.path;
  return { path: realPath, close: () => closeGitWorktree(request, worktree, realPath) };
}

async function closeGitWorktree(
  request: WorktreeOptions,
  worktree: GitWorktree,
  realPath: string,
): Promise<void> {
  const isLast = worktree.leave();
  if (!worktree.isNew || !isLast) return;
  if (!(await worktree.isUnchanged())) {
    return notify(
      request,
      `the worktree ${realPath} has changes and is kept; remove it with \`git worktree remove\``,
    );
  }
  await fire(request, { name: 'WorktreeRemove', path: realPath, cwd: realPath });
  const problem = await worktree.remove();
  if (problem !== null) {
    notify(request, `the worktree ${realPath} could not be removed: ${problem}`);
  }
}

/** A non-interactive run keeps it. */
async function shouldKeep({ person }: WorktreeOptions, realPath: string): Promise<boolean> {
  if (person === null) return true;
  const question = `Keep the worktree ${realPath}?`;
  const options = [
    { label: 'Keep', description: 'Leave it as it is' },
    { label: 'Remove', description: 'Let the hook that created it remove it' },
  ];
  const userQuestion = {
    question,
    header: 'Worktree',
    options,
    multiSelect: false,
    isClosed: true,
  } as const;
  const neverAborted = new AbortController().signal;
  const answers = await person.answer([userQuestion], neverAborted, null).catch(() => null);
  return answers?.[question] !== 'Remove';
}

async function fire(
  { engine, moment, emit }: WorktreeOptions,
  event: FiredEvent<'WorktreeCreate' | 'WorktreeRemove'>,
): Promise<Verdict> {
  const verdict = await engine.dispatch({ ...moment, ...event });
  if (verdict.outcomes.length > 0 || verdict.skipped.some(({ kind }) => kind === 'withheld')) {
    emit({ type: 'hook', verdict });
  }
  return verdict;
}

function notify({ emit }: WorktreeOptions, text: string): void {
  emit({ type: 'notice', level: 'warning', text });
}

function createFailedError(why: string): HooklineError {
  return new HooklineError('WORKTREE_FAILED', {
    message: `the worktree could not be created: ${why}`,
    hint: 'Omit --worktree to work in the current directory.',
  });
}
