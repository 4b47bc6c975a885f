import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import type { AnnouncedFile } from '../dialects/dialect.ts';
import { isRefusal, type Verdict } from '../hooks/decision.ts';
import type { FiredEvent } from '../hooks/facts.ts';
import type { HookSet } from './hook-set.ts';
import { existsSync } from 'node:fs';
import { isInside } from '../base/paths.ts';

export interface HookWatchOptions {
  readonly hookSet: HookSet;
  /** Asks the hooks of ConfigChange, in the session that is open. */
  readonly fire: (event: FiredEvent<'ConfigChange'>) => Promise<Verdict>;
  readonly notice: (notice: string) => void;
}

const RESCAN_DELAY_MS = 50;

/** Looks for hooks again when files change, but asks the hooks of ConfigChange first. */
export async function watchHookFiles(request: HookWatchOptions): Promise<FileWatch> {
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

const SOON_MS = 300;

/**
 * The same, begun a little later: opening a watch takes longer than many a run does. What changed
 * until then is found by looking again.
 */
export function watchHookFilesSoon(request: HookWatchOptions): FileWatch {
  let watching: Promise<FileWatch> | null = null;
  const timer = setTimeout(() => {
    watching = watchHookFiles(request).then(async (begun) => {
      await applyChanges(pendingFiles(request), request);
      return begun;
    });
    watching.catch((error: unknown) => request.notice(getErrorMessage(error)));
  }, SOON_MS);
  timer.unref();
  return {
    async close() {
      clearTimeout(timer);
      const begun = await watching?.catch(() => null);
      await begun?.close();
    },
  };
}

function pendingFiles({ hookSet }: HookWatchOptions): readonly string[] {
  const files = hookSet.announced().map(({ file }) => file);
  return files.filter((file) => hookSet.changes.isPending(file));
}

/** Files whose change was not announced count as they did: their turn comes with their own change. */
async function applyChanges(files: readonly string[], request: HookWatchOptions): Promise<void> {
  const { hookSet, notice } = request;
  try {
    for (const announced of hookSet.announced().filter(({ file }) => files.includes(file))) {
      await announce(announced, request);
    }
    hookSet.rescan({ keepsAnnounced: true });
  } catch (error) {
    // The host is being closed: nothing counts any more, so nothing is lost.
    if (isAbort(error)) return;
    notice(`a change of settings could not be taken over: ${getErrorMessage(error)}`);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

async function announce({ file, source }: AnnouncedFile, request: HookWatchOptions): Promise<void> {
  const { hookSet, fire, notice } = request;
  hookSet.changes.look(file);
  let isTaken = false;
  try {
    const verdict = await fire({ name: 'ConfigChange', source, file });
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

export interface FileWatch {
  close(): Promise<void>;
}

interface WatchNews {
  readonly onChange: (file: string) => void;
  /** Told in words why changes may go unseen, for example when the system has no watches left. */
  readonly onProblem: (message: string) => void;
}

/** Calls back when something changes in these directories, also when they appear only later. */
export async function watchDirectories(
  directories: readonly string[],
  { onChange, onProblem }: WatchNews,
): Promise<FileWatch> {
  const starts = directories.map(findStart).filter((start) => start !== null);
  // A watch of nothing never becomes ready.
  if (starts.length === 0) return { close: () => Promise.resolve() };
  const { watch } = await import('chokidar');
  const watcher = watch(starts, {
    ignored: (file) => !directories.some((directory) => isOnTheWay(directory, file)),
    ignoreInitial: true,
    followSymlinks: true,
  });
  watcher.on('all', (_kind, file) => onChange(file));
  watcher.on('error', (error) =>
    onProblem(`changes of hooks may go unseen: ${getErrorMessage(error)}`),
  );
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
  });
  return { close: () => watcher.close() };
}

/**
 * A directory above that is there: hook directories come and go together with what they lie in.
 * Never the top of the file system, or null: chokidar takes it for its own child, misses it there,
 * and tells that all below it is gone.
 */
function findStart(directory: string): string | null {
  const parent = path.dirname(directory);
  let start = isTop(path.dirname(parent)) ? parent : path.dirname(parent);
  while (!existsSync(start) && !isTop(start)) start = path.dirname(start);
  return isTop(start) ? null : start;
}

function isTop(directory: string): boolean {
  return path.dirname(directory) === directory;
}

/** The directory, what leads to it and what lies in it; never what lies beside or below that. */
function isOnTheWay(directory: string, file: string): boolean {
  if (isInside(file, directory)) return true;
  return isInside(directory, file) && !path.relative(directory, file).includes(path.sep);
}
