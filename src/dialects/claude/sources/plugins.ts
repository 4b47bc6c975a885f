import { existsSync } from 'node:fs';
import path from 'node:path';
import { isDirectory } from '../../../base/files.ts';
import { isRecord } from '../../../base/json.ts';
import { findRealPath, isInside } from '../../../base/paths.ts';
import type { Ignored, Place } from '../../discovery.ts';
import { findOwningRoot } from '../../workspace-roots.ts';
import type { PluginFacts, Source } from '../entry.ts';
import type { ClaudePlaces } from '../session.ts';
import { readConfigObject, readConfigText } from '../../read-config-text.ts';
import { isTrusted, type SettingsReading, selectScalars } from './settings.ts';
import {
  describePart,
  type Part,
  parseLocatedJson,
  type Fault,
} from '../../../base/located-json.ts';
import { findMisspeltHooks } from '../config/misspelt-keys.ts';
import {
  type IgnoredPart,
  listRepeatedKeys,
  NO_EVENTS,
  type ParsedEvents,
  parseEvents,
} from '../config/parse-events.ts';
import { readHooksText } from '../config/read-hooks-text.ts';

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

/** Finds the plugins that the caller names or settings enable, each once. */
export function findClaudePlugins(
  places: ClaudePlaces,
  settings: readonly SettingsReading[],
): { readonly plugins: readonly Plugin[]; readonly ignored: readonly Ignored[] } {
  const options = collectOptions(settings);
  const namedAndEnabled = [
    ...places.pluginDirectories.map((directory) => readNamedPlugin(directory, places)),
    ...listEnabledPlugins(places, settings),
  ];
  const candidates = removeRepeats(namedAndEnabled.filter((each) => 'id' in each));
  return {
    plugins: addLabels(candidates).map(({ id, ...plugin }) => ({
      ...plugin,
      facts: createFacts(id, plugin.directory, places, options),
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

function readNamedPlugin(namedPath: string, places: ClaudePlaces): PluginCandidate | Ignored {
  const directory = path.resolve(places.startDirectory, namedPath);
  if (!isDirectory(directory)) {
    const why = 'is not a directory, but was passed with --plugin-dir; expected a plugin';
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
  const file = path.join(directory, '.claude-plugin', 'marketplace.json');
  const { value: market, problem } = readConfigObject(file);
  if (market === null) {
    const broken = problem === null ? '' : `; ${path.relative(directory, file)} ${problem.why}`;
    return `contains no plugin, but was passed with --plugin-dir${broken}`;
  }
  const listed: readonly unknown[] = Array.isArray(market['plugins']) ? market['plugins'] : [];
  const inside = listed.flatMap((each) =>
    isRecord(each) && typeof each['source'] === 'string' ? [each['source']] : [],
  );
  const names = inside.length === 0 ? '' : `: ${inside.slice(0, MOST_NAMED).join(', ')}`;
  return `is a marketplace, but was passed with --plugin-dir; pass a plugin in it${names}`;
}

const MOST_NAMED = 5;

function readManifestName(directory: string): string | null {
  // A manifest that is not JSON is reported when its hooks are read.
  const { value } = readConfigObject(path.join(directory, '.claude-plugin', 'plugin.json'));
  const name = value?.['name'];
  return typeof name === 'string' && name !== '' ? name : null;
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
  const reported = new Set<string>();
  const isNew = ({ path: file }: Ignored): boolean => {
    const isFirst = !reported.has(file);
    reported.add(file);
    return isFirst;
  };
  return [...ids].flatMap((id): readonly (PluginCandidate | Ignored)[] => {
    const { enabling, ignored } = findEnabling(id, settings);
    if (enabling === null) return ignored;
    const { place, root, kind, file } = enabling.source;
    const { directory, problems } = index(id);
    if (directory === null) {
      const why = `the plugin ${id} is enabled and not installed here, so its hooks do not run`;
      return [...ignored, ...problems.filter(isNew), { path: file, why }];
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
  const knownPaths = new Set<string>();
  return plugins.filter(({ directory }) => {
    const real = findRealPath(directory) ?? directory;
    if (knownPaths.has(real)) return false;
    knownPaths.add(real);
    return true;
  });
}

function addLabels(
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
  { claudeDirectory }: ClaudePlaces,
  options: Options,
): PluginFacts {
  const folderName = id.replaceAll(/[^\w-]/g, '-');
  return {
    name: splitPluginId(id).name,
    root: directory,
    data:
      claudeDirectory === null ? null : path.join(claudeDirectory, 'plugins', 'data', folderName),
    options: options.get(id) ?? {},
  };
}

/**
 * Finds the directory of a plugin by its id, `name@marketplace`; null when it is not installed. `problems`
 * are the lists that could not be read.
 */
type PluginIndex = (id: string) => {
  readonly directory: string | null;
  readonly problems: readonly Ignored[];
};

/** Reads Claude Code's list of installed plugins and the marketplaces on this machine. */
function createPluginIndex(places: ClaudePlaces): PluginIndex {
  if (places.claudeDirectory === null) return () => ({ directory: null, problems: [] });
  const base = path.join(places.claudeDirectory, 'plugins');
  const list = readConfigObject(path.join(base, 'installed_plugins.json'));
  const marketplaces = readConfigObject(path.join(base, 'known_marketplaces.json'));
  const installed = list.value?.['plugins'];
  return (id) => {
    const catalogue = openCatalogue(id, base, marketplaces.value ?? {});
    const found =
      findInstalled(isRecord(installed) ? installed[id] : undefined, places) ?? catalogue.find();
    const directory = found === null ? null : path.resolve(base, found);
    const problems = [list, marketplaces, catalogue].flatMap(({ problem }) => problem ?? []);
    const isThere = directory !== null && isDirectory(directory);
    return { directory: isThere ? directory : null, problems };
  };
}

/** Version 1 of the list has one installation per plugin, version 2 has one per scope. */
function findInstalled(listed: unknown, { startDirectory }: ClaudePlaces): string | null {
  const all = (Array.isArray(listed) ? listed : [listed]).filter(isRecord);
  const start = findRealPath(startDirectory) ?? startDirectory;
  const isOfProject = ({ projectPath }: Record<string, unknown>) =>
    typeof projectPath === 'string' && (findRealPath(projectPath) ?? projectPath) === start;
  // An installation for another project comes last: it may be an old version.
  const best = all.find(isOfProject) ?? all.find((each) => !('projectPath' in each)) ?? all[0];
  const installPath = best?.['installPath'];
  return typeof installPath === 'string' ? installPath : null;
}

/** Reads the catalogue of the plugin's marketplace. */
function openCatalogue(
  id: string,
  directory: string,
  marketplaces: Readonly<Record<string, unknown>>,
) {
  const { name, marketplace } = splitPluginId(id);
  const marketplaceEntry = marketplaces[marketplace];
  const location = isRecord(marketplaceEntry) ? marketplaceEntry['installLocation'] : undefined;
  const base =
    typeof location === 'string' ? location : path.join(directory, 'marketplaces', marketplace);
  const { value, problem } = readConfigObject(
    path.join(base, '.claude-plugin', 'marketplace.json'),
  );
  return {
    problem,
    find(): string | null {
      const listed = Array.isArray(value?.['plugins']) ? value['plugins'] : [];
      const plugin = listed.filter(isRecord).find((each) => each['name'] === name);
      const source = plugin?.['source'];
      if (value === null || typeof source !== 'string') return null;
      return path.join(base, readPluginRoot(value), source);
    },
  };
}

function readPluginRoot({ metadata }: Readonly<Record<string, unknown>>): string {
  const root = isRecord(metadata) ? metadata['pluginRoot'] : undefined;
  return typeof root === 'string' ? root : '.';
}

function splitPluginId(id: string): { readonly name: string; readonly marketplace: string } {
  const at = id.lastIndexOf('@');
  return at <= 0
    ? { name: id, marketplace: '' }
    : { name: id.slice(0, at), marketplace: id.slice(at + 1) };
}

/** The hooks of one source. */
export interface SourceHooks {
  readonly source: Source;
  readonly hooks: ParsedEvents;
  /** The plugin that contains the source; null for sources of the project and the user. */
  readonly plugin: Plugin | null;
}

/** Reads `hooks/hooks.json` of a plugin and what its manifest adds. */
export function readPlugin(plugin: Plugin): {
  readonly readings: readonly SourceHooks[];
  readonly ignored: readonly Ignored[];
} {
  const usual = path.join(plugin.facts.root, 'hooks', 'hooks.json');
  const manifest = readHooksOfManifest(plugin);
  const knownPaths = new Set([resolveRealPath(usual)]);
  const files = manifest.files.filter(({ file }) => {
    const isNew = !knownPaths.has(resolveRealPath(file));
    knownPaths.add(resolveRealPath(file));
    return isNew;
  });
  const read = [
    readHooksFile(usual, plugin, plugin.label),
    ...files.map(
      ({ file, label }) => readHooksFile(file, plugin, label) ?? describeMissing(file, plugin),
    ),
  ];
  return {
    readings: [...read.filter((each) => each !== null && 'hooks' in each), ...manifest.readings],
    ignored: [...read.filter((each) => each !== null && 'why' in each), ...manifest.ignored],
  };
}

function resolveRealPath(file: string): string {
  return findRealPath(file) ?? file;
}

/** A file that the manifest names must exist. */
function describeMissing(file: string, { facts }: Plugin): Ignored {
  const why = `does not exist, but the manifest of ${facts.name} names it`;
  return { path: file, why, mayHideHook: true };
}

/** Null when the file does not exist. */
function readHooksFile(file: string, plugin: Plugin, label: string): SourceHooks | Ignored | null {
  const text = readConfigText(file);
  if (text === null || typeof text !== 'string') return text;
  const source = createPluginSource(plugin, file, label);
  return { source, hooks: readHooksText(text, source, 'plugin'), plugin };
}

function createPluginSource(plugin: Plugin, file: string, label: string): Source {
  const { facts, place, root } = plugin;
  const family = `plugin:${facts.root}`;
  return { kind: 'plugin', label, file, place, root, isCline: false, family, plugin: facts };
}

/** What `hooks` of a manifest says, or a part of it. */
interface Manifest {
  readonly readings: readonly SourceHooks[];
  readonly ignored: readonly Ignored[];
  readonly files: readonly Pick<Source, 'file' | 'label'>[];
}

const EMPTY_MANIFEST: Manifest = { readings: [], ignored: [], files: [] };

/** Reads `hooks` of the manifest: a path, an object, or a list of these. */
function readHooksOfManifest(plugin: Plugin): Manifest {
  const file = path.join(plugin.facts.root, '.claude-plugin', 'plugin.json');
  const text = readConfigText(file);
  if (text === null) return EMPTY_MANIFEST;
  if (typeof text !== 'string') return { ...EMPTY_MANIFEST, ignored: [text] };
  const source = createPluginSource(plugin, file, `${plugin.label}:plugin.json`);
  const root = parseLocatedJson(text);
  if ('why' in root) return createBrokenManifest(plugin, source, root);
  const ignored = [...listRepeatedKeys(root), ...findMisspeltHooks(root.fields ?? new Map())].map(
    (part) => describeIgnoredPart(part, source),
  );
  const hooks = root.fields?.get('hooks');
  if (hooks === undefined) return { ...EMPTY_MANIFEST, ignored };
  const parts = (hooks.items ?? [hooks]).map((part) => readManifestPart(part, plugin, source));
  return {
    readings: parts.flatMap((each) => each.readings),
    ignored,
    files: parts.flatMap((each) => each.files),
  };
}

/** Describes a part of a file that nothing reads. */
export function describeIgnoredPart(
  { line, why, isHarmless }: IgnoredPart,
  { file }: Pick<Source, 'file'>,
): Ignored {
  return {
    path: file,
    why: `line ${line}: ${why}`,
    ...(isHarmless === true ? {} : { mayHideHook: true }),
  };
}

function createBrokenManifest(plugin: Plugin, source: Source, { line, why }: Fault): Manifest {
  const hooks = { ...NO_EVENTS, broken: [{ source, line, event: null, why }] };
  return { ...EMPTY_MANIFEST, readings: [{ source, hooks, plugin }] };
}

function readManifestPart(part: Part, plugin: Plugin, source: Source): Manifest {
  const { line, value } = part;
  if (part.fields !== null) {
    return { ...EMPTY_MANIFEST, readings: [{ source, hooks: parseEvents(part, source), plugin }] };
  }
  if (typeof value !== 'string') {
    const why = `"hooks": expected a path or an object of events, found ${describePart(part)}`;
    return createBrokenManifest(plugin, source, { line, why });
  }
  const file = path.resolve(plugin.facts.root, value);
  if (
    !isInside(resolveRealPath(plugin.facts.root), resolveRealPath(file)) &&
    !isInside(plugin.facts.root, resolveRealPath(file))
  ) {
    const why = `"hooks": expected a path inside the plugin, found ${describePart(part)}`;
    return createBrokenManifest(plugin, source, { line, why });
  }
  const inside = path.relative(plugin.facts.root, file).replaceAll(path.sep, '/');
  return { ...EMPTY_MANIFEST, files: [{ file, label: `${plugin.label}:${inside}` }] };
}
