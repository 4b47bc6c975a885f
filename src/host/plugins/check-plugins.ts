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
export interface CheckedPlugin {
  readonly entry: PluginEntry;
  readonly unit: DiscoveredUnit;
  /** Only a plugin with `ready` may be loaded. */
  readonly status: UnitStatus;
}

/**
 * Finds all plugins in declared order: the user's, those of the workspace roots, those that the caller
 * named. Hashes their files again; imports none.
 */
export function checkPlugins(
  { hookSet }: Pick<OpenedHooks, 'hookSet'>,
  { discovers = true }: Pick<PluginOptions, 'discovers'> = {},
): readonly CheckedPlugin[] {
  return hookSet.plugins().flatMap(({ entry, unit }): readonly CheckedPlugin[] => {
    const isWanted = discovers || unit.details['source'] === 'given';
    return isWanted ? [{ entry, unit, status: hookSet.status(unit) }] : [];
  });
}

/** A plugin on disk, its own name, and the search directory that it was found in. */
export interface LocatedPlugin {
  readonly entry: PluginEntry;
  readonly name: string;
  readonly from: string;
}

/** Finds the plugin that replaces another of its name: the first directory wins, then the last file, as in Cline. */
export function findReplacement(
  all: readonly LocatedPlugin[],
  index: number,
): PluginEntry | undefined {
  const each = all[index];
  const same = all.filter(({ name }) => name === each?.name);
  const winner = same.findLast(({ from }) => from === same[0]?.from);
  return winner === each ? undefined : winner?.entry;
}

export function describeReplacement({ file }: PluginEntry): string {
  return `another plugin of this name is used instead: ${file}`;
}

/** Each directory of the paths that the caller named is a search directory. */
export function getSearchPlace({ details, root }: DiscoveredUnit, entry: PluginEntry): string {
  const { source = '' } = details;
  if (source !== 'given') return `${source} ${root ?? ''}`;
  return path.dirname(entry.package?.directory ?? entry.file);
}

const MAX_FILES = 2_000;

/** Changes when a plugin is added, removed, disabled, trusted or edited: then all are loaded again. */
export function computeFingerprint(found: readonly CheckedPlugin[]): string {
  const states = found.map(({ entry, status: { state } }) => [entry.file, state]);
  const used = found.filter(({ status: { state } }) => state === 'ready');
  return JSON.stringify([states, listFiles(used.map(({ entry }) => entry))]);
}

/** All files of a package; a single file may import files beside it, and below. */
function listFiles(entries: readonly PluginEntry[]): readonly string[] {
  const directories = entries.map((each) => each.package?.directory ?? path.dirname(each.file));
  const files: string[] = [];
  for (const directory of new Set(directories)) {
    const isWithin = directories.some((other) => other !== directory && isInside(other, directory));
    if (!isWithin) walk(directory, files);
  }
  return files;
}

function walk(directory: string, files: string[]): void {
  // What cannot be read now counts as not there.
  for (const item of tryOrNull(() => readdirSync(directory, { withFileTypes: true })) ?? []) {
    if (files.length >= MAX_FILES || item.name === 'node_modules') continue;
    const place = path.join(directory, item.name);
    if (item.isDirectory()) walk(place, files);
    const stats = item.isFile() ? tryOrNull(() => statSync(place)) : null;
    if (stats !== null) files.push(`${place}:${stats.size}:${stats.mtimeMs}`);
  }
}
