import path from 'node:path';
import { isRecord, parseJson } from '../../../base/json.ts';
import { isDirectory } from '../../../base/files.ts';
import { findRealPath } from '../../../base/paths.ts';
import type { ClaudePlaces } from './places.ts';
import { readConfigText } from '../../read-config-text.ts';

/** Finds the directory of a plugin by its id, `name@marketplace`; null when it is not installed. */
export type PluginIndex = (id: string) => string | null;

/** Plugins as Claude Code keeps them: a list of what is installed, and marketplaces that lie on this machine. */
export function createPluginIndex(places: ClaudePlaces): PluginIndex {
  if (places.claudeDirectory === null) return () => null;
  const directory = path.join(places.claudeDirectory, 'plugins');
  const installed = readRecord(path.join(directory, 'installed_plugins.json'))['plugins'];
  const marketplaces = readRecord(path.join(directory, 'known_marketplaces.json'));
  return (id) => {
    const found = findInstalled(isRecord(installed) ? installed[id] : undefined, places);
    const place = found ?? findInMarketplace(id, { directory, marketplaces });
    if (place === null) return null;
    const absolute = path.resolve(directory, place);
    return isDirectory(absolute) ? absolute : null;
  };
}

function readRecord(file: string): Record<string, unknown> {
  const text = readConfigText(file);
  if (typeof text !== 'string') return {};
  const parsed = parseJson(text);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}

/** Version 1 of the list has one installation per plugin, version 2 one per scope. */
function findInstalled(listed: unknown, { startDirectory }: ClaudePlaces): string | null {
  const all = (Array.isArray(listed) ? listed : [listed]).filter(isRecord);
  const start = findRealPath(startDirectory) ?? startDirectory;
  const isOfProject = ({ projectPath }: Record<string, unknown>) =>
    typeof projectPath === 'string' && (findRealPath(projectPath) ?? projectPath) === start;
  // An installation for another project comes last: it may be an old version.
  const best = all.find(isOfProject) ?? all.find((each) => !('projectPath' in each)) ?? all[0];
  const place = best?.['installPath'];
  return typeof place === 'string' ? place : null;
}

interface Marketplaces {
  readonly directory: string;
  readonly marketplaces: Readonly<Record<string, unknown>>;
}

function findInMarketplace(id: string, { directory, marketplaces }: Marketplaces): string | null {
  const { name, marketplace } = splitPluginId(id);
  const known = marketplaces[marketplace];
  const location = isRecord(known) ? known['installLocation'] : undefined;
  const base =
    typeof location === 'string' ? location : path.join(directory, 'marketplaces', marketplace);
  const catalogue = readRecord(path.join(base, '.claude-plugin', 'marketplace.json'));
  const listed = Array.isArray(catalogue['plugins']) ? catalogue['plugins'] : [];
  const plugin = listed.filter(isRecord).find((each) => each['name'] === name);
  const source = plugin?.['source'];
  return typeof source === 'string' ? path.join(base, rootOf(catalogue), source) : null;
}

function rootOf({ metadata }: Record<string, unknown>): string {
  const root = isRecord(metadata) ? metadata['pluginRoot'] : undefined;
  return typeof root === 'string' ? root : '.';
}

export function splitPluginId(id: string): { readonly name: string; readonly marketplace: string } {
  const at = id.lastIndexOf('@');
  return at <= 0
    ? { name: id, marketplace: '' }
    : { name: id.slice(0, at), marketplace: id.slice(at + 1) };
}
