import path from 'node:path';
import type { PluginEntry } from '../../plugins/entry.ts';

/** A plugin on disk, and what it calls itself. */
export interface CalledPlugin {
  readonly entry: PluginEntry;
  readonly name: string;
}

/** The one that is used instead of another of its name: in one directory the later file, as in Cline; of several places the first. */
export function usedInstead(all: readonly CalledPlugin[], place: number): PluginEntry | undefined {
  const each = all[place];
  const isAbove = (other: CalledPlugin, at: number): boolean => {
    if (each === undefined || at === place || other.name !== each.name) return false;
    return directoryOf(other) === directoryOf(each) ? at > place : at < place;
  };
  return all.find(isAbove)?.entry;
}

export function sayUsedInstead({ file }: PluginEntry): string {
  return `another plugin of this name is used instead: ${file}`;
}

function directoryOf({ entry }: CalledPlugin): string {
  return path.dirname(entry.package?.directory ?? entry.file);
}
