import path from 'node:path';
import type { FSWatcher } from 'chokidar';
import { getErrorMessage } from '../../base/errors.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { OpenedHooks } from '../open-hooks.ts';

type FileChange = Pick<FiredEvent<'FileChanged'>, 'file' | 'change'>;

/** Watches the files that FileChanged hooks name. Starts nothing when there are none. */
export class WatchedFiles {
  readonly #opened: OpenedHooks;
  readonly #onChange: (change: FileChange) => void;
  readonly #onProblem: (message: string) => void;
  readonly #watched = new Set<string>();
  readonly #watchers: Promise<FSWatcher>[] = [];

  constructor(
    opened: OpenedHooks,
    onChange: (change: FileChange) => void,
    onProblem: (message: string) => void,
  ) {
    this.#opened = opened;
    this.#onChange = onChange;
    this.#onProblem = onProblem;
  }

  /** Watches the files that matchers name. */
  async start(): Promise<void> {
    const names = this.#listHooks().flatMap(listFileNames);
    await this.#watch(names.map((name) => path.resolve(this.#opened.startDirectory, name)));
  }

  /** Watches further files, by absolute path; settles when the watcher is ready. */
  async add(paths: readonly string[]): Promise<void> {
    if (this.#listHooks().length > 0) await this.#watch(paths);
  }

  async close(): Promise<void> {
    const watchers = await Promise.all(this.#watchers);
    await Promise.all(watchers.map((watcher) => watcher.close()));
  }

  #listHooks(): readonly Found[] {
    return this.#opened.hookSet.hooks().filter(({ events }) => events.includes('FileChanged'));
  }

  async #watch(files: readonly string[]): Promise<void> {
    const further = [...new Set(files)].filter((file) => !this.#watched.has(file));
    if (further.length === 0) return;
    for (const file of further) this.#watched.add(file);
    const opening = this.#openWatcher(further);
    this.#watchers.push(opening);
    const watcher = await opening;
    await new Promise<void>((resolve) => {
      watcher.once('ready', resolve);
    });
  }

  // One watcher for each set of files, because only a new watcher reports when it is ready.
  async #openWatcher(files: readonly string[]): Promise<FSWatcher> {
    const { watch } = await import('chokidar');
    const watcher = watch([...files], { ignoreInitial: true });
    for (const kind of KINDS) {
      watcher.on(kind, (file: string) => this.#onChange({ file, change: kind }));
    }
    watcher.on('error', (error) =>
      this.#onProblem(`changed files may go unseen: ${getErrorMessage(error)}`),
    );
    return watcher;
  }
}

const KINDS = ['add', 'change', 'unlink'] as const;

type Found = ReturnType<OpenedHooks['hookSet']['hooks']>[number];

/** A matcher is a list of file names, never a pattern. */
function listFileNames({ matcher }: Found): readonly string[] {
  if (matcher === null || matcher === '*') return [];
  return matcher.split('|').filter((name) => name !== '');
}
