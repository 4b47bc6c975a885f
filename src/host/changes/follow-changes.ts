import path from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { AnnouncedFile } from '../../dialects/dialect.ts';
import { isRefusal, type Verdict } from '../../hooks/decision.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { HookSet } from '../hook-set.ts';
import { watchDirectories, type Watching } from './watch-directories.ts';

export interface FollowRequest {
  readonly hookSet: HookSet;
  readonly engine: () => HookEngine;
  readonly notice: (notice: string) => void;
}

const RESCAN_DELAY_MS = 50;

/** Looks for hooks again when files change, but asks the hooks of ConfigChange first. */
export async function followChanges(request: FollowRequest): Promise<Watching> {
  const { hookSet, notice } = request;
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let settling = Promise.resolve();
  let isClosed = false;
  const onChange = (file: string): void => {
    if (isClosed) return;
    changed.add(path.resolve(file));
    clearTimeout(timer);
    timer = setTimeout(() => {
      const files = [...changed];
      changed.clear();
      settling = settling.then(() => applyChanges(files, request));
    }, RESCAN_DELAY_MS);
  };
  const watching = await watchDirectories(hookSet.watched(), { onChange, onProblem: notice });
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await watching.close();
      await settling;
    },
  };
}

/** Files whose change was not announced count as they did: their turn comes with their own change. */
async function applyChanges(files: readonly string[], request: FollowRequest): Promise<void> {
  const { hookSet, notice } = request;
  try {
    for (const announced of hookSet.announced().filter(({ file }) => files.includes(file))) {
      await announce(announced, request);
    }
    hookSet.rescan({ keepsAnnounced: true });
  } catch (error) {
    notice(`a change of settings could not be taken over: ${messageOf(error)}`);
  }
}

async function announce({ file, source }: AnnouncedFile, request: FollowRequest): Promise<void> {
  const { hookSet, engine, notice } = request;
  hookSet.changes.look(file);
  let isTaken = false;
  try {
    const verdict = await engine().dispatch({ name: 'ConfigChange', source, file });
    // What an administrator rules, no hook can refuse.
    isTaken = !isRefusal(verdict.effect) || source === 'policy_settings';
    if (!isTaken) notice(`the change of ${file} does not count: refused by ${refusers(verdict)}`);
  } finally {
    hookSet.changes.settle(file, isTaken);
  }
}

function refusers({ reasons }: Verdict): string {
  return reasons.map(({ hook, text }) => `${hook} (${text})`).join(', ');
}
