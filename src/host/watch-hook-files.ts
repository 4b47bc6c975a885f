import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import type { AnnouncedFile } from '../dialects/discovery.ts';
import { isRefusal, type Verdict } from '../hooks/decision.ts';
import type { FiredEvent } from '../hooks/facts.ts';
import type { HookSet } from './hook-set.ts';
import { existsSync } from 'node:fs';
import { isInside } from '../base/paths.ts';

export interface HookWatchOptions {
  readonly hookSet: HookSet;
  /** Fires ConfigChange in the open session. */
  readonly fire: (event: FiredEvent<'ConfigChange'>) => Promise<Verdict>;
  readonly notice: (notice: string) => void;
}

const RESCAN_DELAY_MS = 50;

/** Discovers hooks again when files change, but fires ConfigChange first. */
export async function watchHookFiles(request: HookWatchOptions): Promise<FileWatch> {
  const { hookSet, notice } = request;
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let applying = Promise.resolve();
  let isClosed = false;
  const onChange = (file: string): void => {
    if (isClosed) return;
    changed.add(path.resolve(file));
    clearTimeout(timer);
    timer = setTimeout(() => {
      const files = [...changed];
      changed.clear();
      applying = applying.then(() => applyChanges(files, request));
    }, RESCAN_DELAY_MS);
  };
  const watch = await watchDirectories(hookSet.watched(), onChange, notice);
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await watch.close();
      await applying;
    },
  };
}

const START_DELAY_MS = 300;

/**
 * Watches hook files after a delay, because opening a watch takes longer than a short run. Changes until
 * then are found by a scan at the start.
 */
export function watchHookFilesSoon(request: HookWatchOptions): FileWatch {
  let watch: Promise<FileWatch> | null = null;
  const timer = setTimeout(() => {
    watch = watchHookFiles(request).then(async (started) => {
      await applyChanges(listPendingFiles(request), request);
      return started;
    });
    watch.catch((error: unknown) => request.notice(getErrorMessage(error)));
  }, START_DELAY_MS);
  timer.unref();
  return {
    async close() {
      clearTimeout(timer);
      const started = await watch?.catch(() => null);
      await started?.close();
    },
  };
}

function listPendingFiles({ hookSet }: HookWatchOptions): readonly string[] {
  const files = hookSet.announced().map(({ file }) => file);
  return files.filter((file) => hookSet.changes.isPending(file));
}

/** Files whose change was not accepted keep their old content until their own next change. */
async function applyChanges(files: readonly string[], request: HookWatchOptions): Promise<void> {
  const { hookSet, notice } = request;
  try {
    for (const changedFile of hookSet.announced().filter(({ file }) => files.includes(file))) {
      await fireConfigChange(changedFile, request);
    }
    hookSet.rescan({ keepsAnnounced: true });
  } catch (error) {
    // The host is being closed.
    if (isAbort(error)) return;
    notice(`a change of settings could not be applied: ${getErrorMessage(error)}`);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

async function fireConfigChange(
  { file, source }: AnnouncedFile,
  request: HookWatchOptions,
): Promise<void> {
  const { hookSet, fire, notice } = request;
  hookSet.changes.readPending(file);
  let isAccepted = false;
  try {
    const verdict = await fire({ name: 'ConfigChange', source, file });
    // A hook cannot refuse settings of an administrator.
    isAccepted = !isRefusal(verdict.effect) || source === 'policy_settings';
    if (!isAccepted) {
      notice(`the change of ${file} is ignored: refused by ${formatRefusals(verdict)}`);
    }
  } finally {
    hookSet.changes.resolvePending(file, isAccepted);
  }
}

function formatRefusals({ reasons }: Verdict): string {
  return reasons.map(({ hook, text }) => `${hook} (${text})`).join(', ');
}

export interface FileWatch {
  close(): Promise<void>;
}

/**
 * Calls `onChange` for changes in these directories, also when they are created later, and `onProblem`
 * when changes may be missed, for example because the system has no watches left.
 */
export async function watchDirectories(
  directories: readonly string[],
  onChange: (file: string) => void,
  onProblem: (message: string) => void,
): Promise<FileWatch> {
  const starts = directories.map(findWatchRoot).filter((start) => start !== null);
  // A watcher without paths never becomes ready.
  if (starts.length === 0) return { close: () => Promise.resolve() };
  const { watch } = await import('chokidar');
  const watcher = watch(starts, {
    ignored: (file) => !directories.some((directory) => isWatchedPath(directory, file)),
    ignoreInitial: true,
    followSymlinks: true,
  });
  watcher.on('all', (_kind, file) => onChange(file));
  watcher.on('error', (error) =>
    onProblem(`changes of hooks may be missed: ${getErrorMessage(error)}`),
  );
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
  });
  return { close: () => watcher.close() };
}

/**
 * An existing parent, because hook directories are created and removed together with their parents.
 * Never the root of the file system, for which chokidar reports that everything below it was removed.
 */
function findWatchRoot(directory: string): string | null {
  const parent = path.dirname(directory);
  let start = isFileSystemRoot(path.dirname(parent)) ? parent : path.dirname(parent);
  while (!existsSync(start) && !isFileSystemRoot(start)) start = path.dirname(start);
  return isFileSystemRoot(start) ? null : start;
}

function isFileSystemRoot(directory: string): boolean {
  return path.dirname(directory) === directory;
}

/** The directory, its parents and its direct entries. */
function isWatchedPath(directory: string, file: string): boolean {
  if (isInside(file, directory)) return true;
  return isInside(directory, file) && !path.relative(directory, file).includes(path.sep);
}
