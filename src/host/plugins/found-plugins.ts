import type { FoundHook } from '../../dialects/dialect.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import type { HookStatus } from '../hook-set.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { PluginOptions } from './plugin-options.ts';

/** A plugin on disk, and whether it may be loaded now. */
export interface FoundPlugin {
  readonly entry: PluginEntry;
  readonly hook: FoundHook;
  /** `ready` may be loaded, and nothing else. */
  readonly status: HookStatus;
}

/**
 * Every plugin that lies where plugins are looked for, in declared order: the person's, those of the
 * workspace roots, those that the caller named. Looks at their bytes again; imports none.
 */
export function foundPlugins(
  { hookSet }: Pick<OpenedHooks, 'hookSet'>,
  { discovers = true }: Pick<PluginOptions, 'discovers'> = {},
): readonly FoundPlugin[] {
  return hookSet.found().flatMap((hook): readonly FoundPlugin[] => {
    const { plugin } = hook;
    const isWanted = discovers || hook.details['source'] === 'given';
    if (plugin === undefined || !isWanted) return [];
    return [{ entry: plugin, hook, status: hookSet.status(hook) }];
  });
}
