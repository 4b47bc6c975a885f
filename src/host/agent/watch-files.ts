import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { OpenedHooks } from '../open-hooks.ts';

export type FileChange = Pick<FiredEvent<'FileChanged'>, 'file' | 'change'>;

/** Watches the files that hooks of FileChanged are for. Starts nothing when there are none. */
export interface FileWatch {
  /** With the files that matchers name. */
  start(): Promise<void>;
  /** Further files, absolute, that hooks asked for; done when their changes are seen. */
  add(paths: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface FileNews {
  readonly onChange: (change: FileChange) => void;
  readonly onProblem: (message: string) => void;
}

export function createFileWatch(
  { hookSet, startDirectory }: OpenedHooks,
  news: FileNews,
): FileWatch {
  const watched = new Set<string>();
  const opening: Promise<Watcher>[] = [];
  const forFiles = () => hookSet.found().filter(isForFiles);
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
      const names = forFiles().flatMap(namesIn);
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

type Found = ReturnType<OpenedHooks['hookSet']['found']>[number];

function isForFiles({ events }: Found): boolean {
  return events.includes('FileChanged');
}

/** Each part of the matcher is the name of a file, never a pattern. */
function namesIn({ matcher }: Found): readonly string[] {
  if (matcher === null || matcher === '*') return [];
  return matcher.split('|').filter((name) => name !== '');
}

interface Watcher {
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

const KINDS = ['add', 'change', 'unlink'] as const;

// One for each set of files: only a new watcher says when it sees what it is for.
async function openWatcher(
  files: readonly string[],
  { onChange, onProblem }: FileNews,
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
