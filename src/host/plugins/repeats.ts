import path from 'node:path';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import type { PluginEntry } from '../../plugins/entry.ts';

/** A plugin on disk, what it calls itself, and which of the places that are looked at it lies in. */
export interface CalledPlugin {
  readonly entry: PluginEntry;
  readonly name: string;
  readonly from: string;
}

/** The one that is used instead of another of its name: of several places the first has it, and there the last file, as in Cline. */
export function usedInstead(all: readonly CalledPlugin[], place: number): PluginEntry | undefined {
  const each = all[place];
  const same = all.filter(({ name }) => name === each?.name);
  const winner = same.findLast(({ from }) => from === same[0]?.from);
  return winner === each ? undefined : winner?.entry;
}

export function sayUsedInstead({ file }: PluginEntry): string {
  return `another plugin of this name is used instead: ${file}`;
}

/** Of paths that the caller named, each directory is a place. */
export function placeOf({ details, root }: DiscoveredUnit, entry: PluginEntry): string {
  const { source = '' } = details;
  if (source !== 'given') return `${source} ${root ?? ''}`;
  return path.dirname(entry.package?.directory ?? entry.file);
}
