import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { PluginEntry } from '../../plugins/entry.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { foundPlugins } from './found-plugins.ts';
import type { PluginOptions } from './plugin-options.ts';

const MAX_FILES = 2_000;

/** Changes when a plugin comes, goes, is switched, trusted or edited: then all are loaded again. */
export function fingerprintOf(opened: OpenedHooks, options: PluginOptions): string {
  const found = foundPlugins(opened, options);
  return JSON.stringify(
    found.map(({ entry, status: { state } }) => [
      entry.file,
      state,
      state === 'ready' ? filesOf(entry) : [],
    ]),
  );
}

/** A file by itself may import its neighbours; a package is everything in it. */
function filesOf(entry: PluginEntry): readonly string[] {
  const seen: string[] = [];
  const directory = entry.package?.directory ?? path.dirname(entry.file);
  walk(directory, entry.package !== null, seen);
  return seen;
}

function walk(directory: string, isDeep: boolean, seen: string[]): void {
  for (const item of quietly(() => readdirSync(directory, { withFileTypes: true })) ?? []) {
    if (seen.length >= MAX_FILES || item.name === 'node_modules') continue;
    const place = path.join(directory, item.name);
    if (item.isDirectory() && isDeep) walk(place, isDeep, seen);
    const stats = item.isFile() ? quietly(() => statSync(place)) : null;
    if (stats !== null) seen.push(`${place}:${stats.size}:${stats.mtimeMs}`);
  }
}

/** What cannot be looked at now counts as not there. */
function quietly<Value>(look: () => Value): Value | null {
  try {
    return look();
  } catch {
    return null;
  }
}
