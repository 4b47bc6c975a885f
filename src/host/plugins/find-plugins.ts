import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import type { UnitStatus } from '../hook-set.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { PluginOptions } from './plugin-options.ts';
import path from 'node:path';
import { readdirSync, statSync } from 'node:fs';
import { tryOrNull } from '../../base/errors.ts';
import { isInside } from '../../base/paths.ts';

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
export function findPlugins(
  { hookSet }: Pick<OpenedHooks, 'hookSet'>,
  { discovers = true }: Pick<PluginOptions, 'discovers'> = {},
): readonly FoundPlugin[] {
  return hookSet.plugins().flatMap(({ entry, unit }): readonly FoundPlugin[] => {
    const isWanted = discovers || unit.details['source'] === 'given';
    return isWanted ? [{ entry, hook: unit, status: hookSet.status(unit) }] : [];
  });
}

/** A plugin on disk, what it calls itself, and which of the places that are looked at it lies in. */
export interface NamedPlugin {
  readonly entry: PluginEntry;
  readonly name: string;
  readonly from: string;
}

/** The one that is used instead of another of its name: of several places the first has it, and there the last file, as in Cline. */
export function findReplacement(
  all: readonly NamedPlugin[],
  place: number,
): PluginEntry | undefined {
  const each = all[place];
  const same = all.filter(({ name }) => name === each?.name);
  const winner = same.findLast(({ from }) => from === same[0]?.from);
  return winner === each ? undefined : winner?.entry;
}

export function describeReplacement({ file }: PluginEntry): string {
  return `another plugin of this name is used instead: ${file}`;
}

/** Of paths that the caller named, each directory is a place. */
export function getSearchPlace({ details, root }: DiscoveredUnit, entry: PluginEntry): string {
  const { source = '' } = details;
  if (source !== 'given') return `${source} ${root ?? ''}`;
  return path.dirname(entry.package?.directory ?? entry.file);
}

const MAX_FILES = 2_000;

/** Changes when a plugin comes, goes, is switched, trusted or edited: then all are loaded again. */
export function computeFingerprint(found: readonly FoundPlugin[]): string {
  const states = found.map(({ entry, status: { state } }) => [entry.file, state]);
  const used = found.filter(({ status: { state } }) => state === 'ready');
  return JSON.stringify([states, listFiles(used.map(({ entry }) => entry))]);
}

/** A package is everything in it; a file by itself may import what lies beside it, and below. */
function listFiles(entries: readonly PluginEntry[]): readonly string[] {
  const directories = entries.map((each) => each.package?.directory ?? path.dirname(each.file));
  const seen: string[] = [];
  for (const directory of new Set(directories)) {
    const isWithin = directories.some((other) => other !== directory && isInside(other, directory));
    if (!isWithin) walk(directory, seen);
  }
  return seen;
}

function walk(directory: string, seen: string[]): void {
  // What cannot be read now counts as not there.
  for (const item of tryOrNull(() => readdirSync(directory, { withFileTypes: true })) ?? []) {
    if (seen.length >= MAX_FILES || item.name === 'node_modules') continue;
    const place = path.join(directory, item.name);
    if (item.isDirectory()) walk(place, seen);
    const stats = item.isFile() ? tryOrNull(() => statSync(place)) : null;
    if (stats !== null) seen.push(`${place}:${stats.size}:${stats.mtimeMs}`);
  }
}
