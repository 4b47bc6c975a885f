import type { FileHookName } from '../../dialects/cline-files/names.ts';
import {
  CombinedHookRunner,
  type HookRunner,
  NoOpHookRunner,
  StdioHookRunner,
} from '../../dialects/cline-files/runners.ts';
import { createHost, type Host, type HostOptions } from '../create-host.ts';
import type { HookSearch } from '../open-hooks.ts';

export type HookFactoryOptions = HookSearch & Pick<HostOptions, 'onNotice'>;

/**
 * Finds the hooks of all workspace roots, keeps watching them, and gives a runner for an event.
 * Hooks of a workspace run only once they are trusted, unless `trust: 'all'` says otherwise.
 */
export class HookFactory {
  readonly #options: HookFactoryOptions;
  #host: Promise<Host> | null = null;

  constructor(options: HookFactoryOptions = {}) {
    this.#options = options;
  }

  /** Whether any hook would run for the event. */
  async has(name: FileHookName): Promise<boolean> {
    return (await this.#runners(name)).length > 0;
  }

  /** A runner for the hooks as they are now; one of no effect when there are none. */
  async create<Name extends FileHookName>(name: Name): Promise<HookRunner<Name>> {
    const runners = await this.#runners(name);
    const [only] = runners;
    if (only === undefined) return new NoOpHookRunner(name);
    return runners.length === 1 ? only : new CombinedHookRunner(name, runners);
  }

  /** Stops watching. */
  async close(): Promise<void> {
    await (await this.#host)?.close();
    this.#host = null;
  }

  async #runners<Name extends FileHookName>(name: Name): Promise<HookRunner<Name>[]> {
    this.#host ??= createHost({ ...this.#options, watch: true });
    const host = await this.#host;
    return host
      .readyHooks()
      .filter(({ hook }) => hook.eventName === name)
      .map(({ hook, handlers }) => {
        return new StdioHookRunner({ name, id: hook.id, handlers, moment: () => host.moment() });
      });
  }
}
