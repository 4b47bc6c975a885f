import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import type { UnitStatus } from '../hook-set.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { PluginOptions } from './plugin-options.ts';

/** A plugin on disk, and whether it may be loaded now. */
export interface FoundPlugin {
  readonly entry: PluginEntry;
  readonly hook: DiscoveredUnit;
  /** `ready` may be loaded, and nothing else. */
  readonly status: UnitStatus;
}

/**
 * Every plugin that lies where plugins are looked for, in declared order: the person's, those of the
 * workspace roots, those that the caller named. Looks at their bytes again; imports none.
 */
export function foundPlugins(
  { hookSet }: Pick<OpenedHooks, 'hookSet'>,
  { discovers = true }: Pick<PluginOptions, 'discovers'> = {},
): readonly FoundPlugin[] {
  return hookSet.plugins().flatMap(({ entry, unit }): readonly FoundPlugin[] => {
    const isWanted = discovers || unit.details['source'] === 'given';
    return isWanted ? [{ entry, hook: unit, status: hookSet.status(unit) }] : [];
  });
}
