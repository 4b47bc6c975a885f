import { memoize } from '../../base/once.ts';
import { openWorktree, type Worktree, type WorktreeOptions } from './worktree.ts';

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
