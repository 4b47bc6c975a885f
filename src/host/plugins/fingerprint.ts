import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../../base/paths.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { foundPlugins } from './found-plugins.ts';
import type { PluginOptions } from './plugin-options.ts';

const MAX_FILES = 2_000;

/** Changes when a plugin comes, goes, is switched, trusted or edited: then all are loaded again. */
export function fingerprintOf(opened: OpenedHooks, options: PluginOptions): string {
  const found = foundPlugins(opened, options);
  const states = found.map(({ entry, status: { state } }) => [entry.file, state]);
  const used = found.filter(({ status: { state } }) => state === 'ready');
  return JSON.stringify([states, filesOf(used.map(({ entry }) => entry))]);
}

/** A package is everything in it; a file by itself may import what lies beside it, and below. */
function filesOf(entries: readonly PluginEntry[]): readonly string[] {
  const directories = entries.map((each) => each.package?.directory ?? path.dirname(each.file));
  const seen: string[] = [];
  for (const directory of new Set(directories)) {
    const isWithin = directories.some((other) => other !== directory && isInside(other, directory));
    if (!isWithin) walk(directory, seen);
  }
  return seen;
}

function walk(directory: string, seen: string[]): void {
  for (const item of quietly(() => readdirSync(directory, { withFileTypes: true })) ?? []) {
    if (seen.length >= MAX_FILES || item.name === 'node_modules') continue;
    const place = path.join(directory, item.name);
    if (item.isDirectory()) walk(place, seen);
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
