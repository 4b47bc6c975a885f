import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { OpenedHooks } from '../open-hooks.ts';

export type FileChange = Pick<FiredEvent<'FileChanged'>, 'file' | 'change'>;

/** Watches the files that FileChanged hooks name. Starts nothing when there are none. */
export interface FileWatch {
  /** Watches the files that matchers name. */
  start(): Promise<void>;
  /** Watches further files, by absolute path; settles when the watcher is ready. */
  add(paths: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface FileWatchObserver {
  readonly onChange: (change: FileChange) => void;
  readonly onProblem: (message: string) => void;
}

export function createFileWatch(
  { hookSet, startDirectory }: OpenedHooks,
  news: FileWatchObserver,
): FileWatch {
  const watched = new Set<string>();
  const opening: Promise<Watcher>[] = [];
  const forFiles = () => hookSet.hooks().filter(isForFiles);
  const watchAll = async (files: readonly string[]): Promise<void> => {
    const further = [...new Set(files)].filter((file) => !watched.has(file));
    if (further.length === 0) return;
    for (const file of further) watched.add(file);
    const opened = openWatcher(further, news);
    opening.push(opened);
    await (
      await opened
    ).ready;
  };
  return {
    async start() {
      const names = forFiles().flatMap(listFileNames);
      await watchAll(names.map((name) => path.resolve(startDirectory, name)));
    },
    async add(paths) {
      if (forFiles().length > 0) await watchAll(paths);
    },
    async close() {
      const opened = await Promise.all(opening);
      await Promise.all(opened.map((watcher) => watcher.close()));
    },
  };
}

type Found = ReturnType<OpenedHooks['hookSet']['hooks']>[number];

function isForFiles({ events }: Found): boolean {
  return events.includes('FileChanged');
}

/** A matcher is a list of file names, never a pattern. */
function listFileNames({ matcher }: Found): readonly string[] {
  if (matcher === null || matcher === '*') return [];
  return matcher.split('|').filter((name) => name !== '');
}

interface Watcher {
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

const KINDS = ['add', 'change', 'unlink'] as const;

// One watcher for each set of files, because only a new watcher reports when it is ready.
async function openWatcher(
  files: readonly string[],
  { onChange, onProblem }: FileWatchObserver,
): Promise<Watcher> {
  const { watch } = await import('chokidar');
  const watcher = watch([...files], { ignoreInitial: true });
  for (const kind of KINDS) {
    watcher.on(kind, (file: string) => onChange({ file, change: kind }));
  }
  watcher.on('error', (error) =>
    onProblem(`changed files may go unseen: ${getErrorMessage(error)}`),
  );
  const ready = new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
  });
  return { ready, close: () => watcher.close() };
}
