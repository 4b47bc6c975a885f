import { clineFiles, type FileHookName } from '../../dialects/index.ts';
import {
  CombinedHookRunner,
  type DispatchObserver,
  type HookRunner,
  NoOpHookRunner,
  resolveHookName,
  StdioHookRunner,
} from './hook-runner.ts';
import { createDispatchEntry } from '../../trace/entry.ts';
import { type Host, type HostOptions, openHost } from '../host.ts';
import { importInstalledSessions } from './installed-host.ts';
import type { HookSearch } from '../open-hooks.ts';
import { openTrace } from '../open-trace.ts';

export type HookFactoryOptions = HookSearch & Pick<HostOptions, 'onNotice'>;

/**
 * Finds the hooks of all workspace roots, watches them, and creates a runner for an event. Hooks of a
 * workspace run only when they are trusted, unless `trust` is 'all'.
 */
export class HookFactory {
  readonly #options: HookFactoryOptions;
  #watching: Promise<ObservedHost> | null = null;

  constructor(options: HookFactoryOptions = {}) {
    this.#options = options;
  }

  /** Whether any hook would run for the event. */
  async has(name: FileHookName): Promise<boolean> {
    const hookName = resolveHookName(name);
    const { host } = await this.#watch();
    return host.hooks().some(({ hook, isEnabled, trustedBy }) => {
      return hook.eventName === hookName && isEnabled && trustedBy !== null;
    });
  }

  /**
   * Creates a runner for the current hooks; one without effect when there are none. Hooks that may
   * not run are included: the verdict lists them as skipped, with the reason.
   */
  async create<Name extends FileHookName>(name: Name): Promise<HookRunner<Name>> {
    const hookName = resolveHookName(name);
    const runners = createRunners(hookName, await this.#watch());
    const [only] = runners;
    if (only === undefined) return new NoOpHookRunner(hookName);
    return runners.length === 1 ? only : new CombinedHookRunner(hookName, runners);
  }

  /** Stops watching, and flushes pending writes. */
  async close(): Promise<void> {
    const watching = this.#watching;
    this.#watching = null;
    await (await watching)?.close();
  }

  #watch(): Promise<ObservedHost> {
    this.#watching ??= watchHooks(this.#options);
    return this.#watching;
  }
}

interface ObservedHost {
  readonly host: Host;
  readonly observers: readonly DispatchObserver[];
  close(): Promise<void>;
}

async function watchHooks(options: HookFactoryOptions): Promise<ObservedHost> {
  const host = await openHost(
    { ...options, dialects: [clineFiles.name], watch: true },
    importInstalledSessions,
  );
  const trace = openTrace(host, options.onNotice ?? (() => undefined));
  return {
    host,
    observers: trace === null ? [] : [(record) => trace.record(() => createDispatchEntry(record))],
    async close() {
      await host.dispose();
      await trace?.close();
    },
  };
}

function createRunners<Name extends FileHookName>(
  name: Name,
  { host, observers }: ObservedHost,
): HookRunner<Name>[] {
  const moment = (): ReturnType<Host['moment']> => host.moment();
  return host
    .madeHooks()
    .filter(({ hook }) => hook.eventName === name)
    .map(({ hook, handlers }) => {
      const { id, path } = hook;
      return new StdioHookRunner({ name, id, path, handlers, moment, observers });
    });
}
