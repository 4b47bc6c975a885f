import { existsSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { isInside } from '../../base/paths.ts';

export interface FileWatch {
  close(): Promise<void>;
}

export interface WatchNews {
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
