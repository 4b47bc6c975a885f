import { memoize } from '../base/memoize.ts';
import type { RuntimeFacts } from '../agent/runtime-event.ts';
import type { Person } from '../agent/world.ts';
import { HooklineError } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { findRealPath } from '../base/paths.ts';
import { isRefusal, type Verdict } from '../hooks/decision.ts';
import type { HookEngine } from '../hooks/engine.ts';
import type { FiredEvent, Moment } from '../hooks/facts.ts';
import type { GitWorktree, GitWorktrees } from './git-worktrees.ts';

/** The worktrees that sessions of one host are in. Whoever leaves one last closes it. */
export interface Worktrees {
  enter(request: WorktreeOptions): Promise<Worktree>;
}

interface InUse {
  readonly worktree: Promise<Worktree>;
  users: number;
}

export function createWorktrees(): Worktrees {
  const inUse = new Map<string, InUse>();
  const leave = (name: string, entered: InUse): boolean => {
    entered.users -= 1;
    if (entered.users > 0) return false;
    inUse.delete(name);
    return true;
  };
  return {
    async enter(request) {
      const { name } = request;
      const entered = inUse.get(name) ?? { worktree: openWorktree(request), users: 0 };
      inUse.set(name, entered);
      entered.users += 1;
      try {
        const worktree = await entered.worktree;
        const close = async (): Promise<void> => {
          if (leave(name, entered)) await worktree.close();
        };
        return { path: worktree.path, close: memoize(close) };
      } catch (error) {
        leave(name, entered);
        throw error;
      }
    },
  };
}

/** A copy of the workspace that a session works in instead. */
export interface Worktree {
  /** Real path. */
  readonly path: string;
  /** The session is over: takes the copy away when nothing is lost with it. Never throws. */
  close(): Promise<void>;
}

interface WorktreeOptions {
  readonly name: string;
  readonly git: GitWorktrees;
  readonly engine: HookEngine;
  /** What the session's events carry. */
  readonly moment: Partial<Moment>;
  readonly person: Person | null;
  readonly tell: (facts: RuntimeFacts) => void;
}

/**
 * Makes a worktree, or has a hook make it; the only place where WorktreeCreate and WorktreeRemove
 * are fired. Throws WORKTREE_FAILED.
 */
async function openWorktree(request: WorktreeOptions): Promise<Worktree> {
  refuseOddName(request.name);
  const verdict = await fire(request, { name: 'WorktreeCreate', worktree: request.name });
  if (isRefusal(verdict.effect)) throw failed(refusalOf(verdict));
  const given = verdict.changes['worktreePath'];
  return typeof given === 'string' ? madeByHook(request, given) : madeByGit(request);
}

function refuseOddName(name: string): void {
  if (/^[a-z0-9](?:[\w.-]*\w)?$/i.test(name) && !/\.\.|\.lock$/.test(name)) return;
  throw new HooklineError('USAGE_INVALID', {
    message: `a worktree’s name should be letters, digits, dots, dashes and underscores, found ${JSON.stringify(name)}`,
    hint: 'Name it after what is done in it: --worktree fix-login.',
  });
}

function refusalOf({ reasons }: Verdict): string {
  const texts = reasons.map(({ text }) => text);
  return texts.length === 0 ? 'a hook of WorktreeCreate refused it' : texts.join('\n');
}

function madeByHook(request: WorktreeOptions, given: string): Worktree {
  const real = isDirectory(given) ? findRealPath(given) : null;
  if (real === null) {
    throw failed(`a hook of WorktreeCreate named ${given}, which is no directory`);
  }
  return {
    path: real,
    async close() {
      // Only the hook knows how to tell whether something would be lost.
      if (await isWanted(request, real)) return say(request, `the worktree ${real} stays`);
      await fire(request, { name: 'WorktreeRemove', path: real, cwd: real });
    },
  };
}

async function madeByGit(request: WorktreeOptions): Promise<Worktree> {
  const made = await request.git.create(request.name);
  if (typeof made === 'string') throw failed(made);
  const real = findRealPath(made.path) ?? made.path;
  return { path: real, close: () => closeMade(request, made, real) };
}

async function closeMade(request: WorktreeOptions, made: GitWorktree, real: string): Promise<void> {
  const isLast = made.leave();
  if (!made.isNew || !isLast) return;
  if (!(await made.isUnchanged())) {
    return say(
      request,
      `the worktree ${real} has changes and stays; \`git worktree remove\` takes it away`,
    );
  }
  await fire(request, { name: 'WorktreeRemove', path: real, cwd: real });
  const problem = await made.remove();
  if (problem !== null) say(request, `the worktree ${real} could not be removed: ${problem}`);
}

/** Nobody there means that it stays. */
async function isWanted({ person }: WorktreeOptions, real: string): Promise<boolean> {
  if (person === null) return true;
  const question = `Keep the worktree ${real}?`;
  const options = [
    { label: 'Keep', description: 'Leave it as it is' },
    { label: 'Remove', description: 'Tell the hook that made it to take it away' },
  ];
  const asked = {
    question,
    header: 'Worktree',
    options,
    multiSelect: false,
    isClosed: true,
  } as const;
  const never = new AbortController().signal;
  const answers = await person.answer([asked], never).catch(() => null);
  return answers?.[question] !== 'Remove';
}

async function fire(
  { engine, moment, tell }: WorktreeOptions,
  event: FiredEvent<'WorktreeCreate' | 'WorktreeRemove'>,
): Promise<Verdict> {
  const verdict = await engine.dispatch({ ...moment, ...event });
  if (verdict.outcomes.length > 0 || verdict.skipped.some(({ kind }) => kind === 'withheld')) {
    tell({ type: 'hook', verdict });
  }
  return verdict;
}

function say({ tell }: WorktreeOptions, text: string): void {
  tell({ type: 'notice', level: 'warning', text });
}

function failed(why: string): HooklineError {
  return new HooklineError('WORKTREE_FAILED', {
    message: `the worktree could not be made: ${why}`,
    hint: 'Leave --worktree out to work where you are.',
  });
}
