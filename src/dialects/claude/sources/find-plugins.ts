import { existsSync } from 'node:fs';
import path from 'node:path';
import { isDirectory } from '../../../base/files.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import { findRealPath } from '../../../base/paths.ts';
import type { Ignored, Place } from '../../discovery.ts';
import { findOwningRoot } from '../../place.ts';
import type { PluginFacts } from '../entry.ts';
import type { ClaudePlaces } from './places.ts';
import { readConfigText } from '../../read-config-text.ts';
import { isTrusted, type SettingsReading, selectScalars } from './read-settings.ts';

/** A plugin that is in use. */
export interface Plugin {
  readonly facts: PluginFacts;
  /** Unique in this session. */
  readonly label: string;
  readonly place: Place;
  readonly root: string | null;
  /** Whether managed settings demand it. */
  readonly isForced: boolean;
}

interface FoundPlugins {
  readonly plugins: readonly Plugin[];
  readonly ignored: readonly Ignored[];
}

/** Finds the plugins that the caller names or settings enable, each once. */
export function findPlugins(
  places: ClaudePlaces,
  settings: readonly SettingsReading[],
): FoundPlugins {
  const options = collectOptions(settings);
  const namedAndEnabled = [
    ...places.pluginDirectories.map((directory) => readNamedPlugin(directory, places)),
    ...listEnabledPlugins(places, settings),
  ];
  const candidates = removeRepeats(namedAndEnabled.filter((each) => 'id' in each));
  return {
    plugins: withLabels(candidates).map(({ id, ...plugin }) => ({
      ...plugin,
      facts: createFacts(id, plugin.directory, { places, options }),
    })),
    ignored: namedAndEnabled.filter((each) => 'why' in each),
  };
}

interface PluginCandidate {
  /** `name@marketplace` */
  readonly id: string;
  readonly directory: string;
  readonly place: Place;
  readonly root: string | null;
  readonly isForced: boolean;
}

function readNamedPlugin(named: string, places: ClaudePlaces): PluginCandidate | Ignored {
  const directory = path.resolve(places.startDirectory, named);
  if (!isDirectory(directory)) {
    const why = 'is not a directory, and was named with --plugin-dir; expected a plugin';
    return { path: directory, why, mayHideHook: true };
  }
  const why = explainNoPlugin(directory);
  if (why !== null) return { path: directory, why, mayHideHook: true };
  const id = `${readManifestName(directory) ?? path.basename(directory)}@inline`;
  return resolveOwner({ id, directory, place: 'given', root: null, isForced: false }, places);
}

const PARTS_OF_PLUGIN = ['hooks', 'skills', 'commands', 'agents', '.mcp.json'];

/** Explains why a named directory is not a plugin, or null; a plugin needs no manifest. */
function explainNoPlugin(directory: string): string | null {
  const parts = [path.join('.claude-plugin', 'plugin.json'), ...PARTS_OF_PLUGIN];
  if (parts.some((part) => existsSync(path.join(directory, part)))) return null;
  const market = readJsonObject(path.join(directory, '.claude-plugin', 'marketplace.json'));
  if (market === null) return 'holds nothing of a plugin, and was named with --plugin-dir';
  const listed: readonly unknown[] = Array.isArray(market['plugins']) ? market['plugins'] : [];
  const inside = listed.flatMap((each) =>
    isRecord(each) && typeof each['source'] === 'string' ? [each['source']] : [],
  );
  const names = inside.length === 0 ? '' : `: ${inside.slice(0, MOST_NAMED).join(', ')}`;
  return `is a marketplace, and was named with --plugin-dir; name a plugin in it${names}`;
}

const MOST_NAMED = 5;

function readManifestName(directory: string): string | null {
  const name = readJsonObject(path.join(directory, '.claude-plugin', 'plugin.json'))?.['name'];
  return typeof name === 'string' && name !== '' ? name : null;
}

function readJsonObject(file: string): Readonly<Record<string, unknown>> | null {
  const text = readConfigText(file);
  const parsed = typeof text === 'string' ? parseJson(text) : null;
  return parsed !== null && parsed.ok && isRecord(parsed.value) ? parsed.value : null;
}

function resolveOwner(plugin: PluginCandidate, places: ClaudePlaces): PluginCandidate {
  if (plugin.place === 'workspace') return plugin;
  const root = findOwningRoot(plugin.directory, places);
  return root === null ? plugin : { ...plugin, place: 'workspace', root };
}

function listEnabledPlugins(
  places: ClaudePlaces,
  settings: readonly SettingsReading[],
): (PluginCandidate | Ignored)[] {
  const ids = new Set(
    settings.flatMap((each) => [...(each.settings.get(ENABLED)?.fields?.keys() ?? [])]),
  );
  if (ids.size === 0) return [];
  const index = createPluginIndex(places);
  return [...ids].flatMap((id): readonly (PluginCandidate | Ignored)[] => {
    const { enabling, ignored } = findEnabling(id, settings);
    if (enabling === null) return ignored;
    const { place, root, kind, file } = enabling.source;
    const directory = index(id);
    if (directory === null) {
      const why = `the plugin ${id} is enabled and not installed here, so its hooks do not run`;
      return [...ignored, { path: file, why }];
    }
    const isForced = kind === 'managed';
    const owner =
      place === 'workspace' ? { place, root } : ({ place: 'home', root: null } as const);
    return [...ignored, resolveOwner({ id, directory, isForced, ...owner }, places)];
  });
}

const ENABLED = 'enabledPlugins';

/** The user's settings win; a workspace may only enable a plugin that they do not mention. */
function findEnabling(
  id: string,
  settings: readonly SettingsReading[],
): { readonly enabling: SettingsReading | null; readonly ignored: readonly Ignored[] } {
  const mentioning = settings.filter((each) => readEnabled(each, id) !== undefined);
  const personal = mentioning.findLast(isTrusted);
  const ofWorkspace = mentioning.findLast((each) => !isTrusted(each));
  const deciding = personal ?? ofWorkspace;
  const enabling = deciding !== undefined && isEnabled(readEnabled(deciding, id)) ? deciding : null;
  if (personal === undefined || ofWorkspace === undefined) return { enabling, ignored: [] };
  if (isEnabled(readEnabled(ofWorkspace, id)) === (enabling !== null)) {
    return { enabling, ignored: [] };
  }
  const why = `"${ENABLED}" of a workspace does not change what ${personal.source.file} says about ${id}`;
  return { enabling, ignored: [{ path: ofWorkspace.source.file, why }] };
}

function readEnabled({ settings }: SettingsReading, id: string): unknown {
  return settings.get(ENABLED)?.fields?.get(id)?.value;
}

/** The value is true or a list of acceptable versions. */
function isEnabled(word: unknown): boolean {
  return word === true || Array.isArray(word);
}

function removeRepeats(plugins: readonly PluginCandidate[]): PluginCandidate[] {
  const seen = new Set<string>();
  return plugins.filter(({ directory }) => {
    const real = findRealPath(directory) ?? directory;
    if (seen.has(real)) return false;
    seen.add(real);
    return true;
  });
}

function withLabels(
  plugins: readonly PluginCandidate[],
): (PluginCandidate & { readonly label: string })[] {
  const counts = new Map<string, number>();
  return plugins.map((plugin) => {
    const { name } = splitPluginId(plugin.id);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { ...plugin, label: count === 1 ? `plugin:${name}` : `plugin:${name}~${count}` };
  });
}

type Options = ReadonlyMap<string, Readonly<Record<string, string>>>;

function collectOptions(settings: readonly SettingsReading[]): Options {
  const options = new Map<string, Record<string, string>>();
  for (const each of settings.filter(isTrusted)) {
    for (const [id, config] of each.settings.get('pluginConfigs')?.fields ?? []) {
      const set = selectScalars(config.fields?.get('options')?.value);
      options.set(id, { ...options.get(id), ...set });
    }
  }
  return options;
}

function createFacts(
  id: string,
  directory: string,
  { places, options }: { readonly places: ClaudePlaces; readonly options: Options },
): PluginFacts {
  const { claudeDirectory } = places;
  const folderName = id.replaceAll(/[^\w-]/g, '-');
  return {
    name: splitPluginId(id).name,
    root: directory,
    data:
      claudeDirectory === null ? null : path.join(claudeDirectory, 'plugins', 'data', folderName),
    options: options.get(id) ?? {},
  };
}

/** Finds the directory of a plugin by its id, `name@marketplace`; null when it is not installed. */
type PluginIndex = (id: string) => string | null;

/** Reads Claude Code's list of installed plugins and the marketplaces on this machine. */
function createPluginIndex(places: ClaudePlaces): PluginIndex {
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

/** Version 1 of the list has one installation per plugin, version 2 has one per scope. */
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
  const marketplaceEntry = marketplaces[marketplace];
  const location = isRecord(marketplaceEntry) ? marketplaceEntry['installLocation'] : undefined;
  const base =
    typeof location === 'string' ? location : path.join(directory, 'marketplaces', marketplace);
  const catalogue = readRecord(path.join(base, '.claude-plugin', 'marketplace.json'));
  const listed = Array.isArray(catalogue['plugins']) ? catalogue['plugins'] : [];
  const plugin = listed.filter(isRecord).find((each) => each['name'] === name);
  const source = plugin?.['source'];
  return typeof source === 'string' ? path.join(base, readPluginRoot(catalogue), source) : null;
}

function readPluginRoot({ metadata }: Record<string, unknown>): string {
  const root = isRecord(metadata) ? metadata['pluginRoot'] : undefined;
  return typeof root === 'string' ? root : '.';
}

function splitPluginId(id: string): { readonly name: string; readonly marketplace: string } {
  const at = id.lastIndexOf('@');
  return at <= 0
    ? { name: id, marketplace: '' }
    : { name: id.slice(0, at), marketplace: id.slice(at + 1) };
}
