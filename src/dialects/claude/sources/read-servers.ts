import path from 'node:path';
import { dropUndefined } from '../../../base/defined.ts';
import {
  type ConfiguredServers,
  NO_SERVERS,
  type ServerConfig,
  type ServerSource,
  mergeServers,
} from '../../../mcp/server-config.ts';
import type { Ignored } from '../../discovery.ts';
import { describePart, type Part, parseLocatedJson } from '../../../base/located-json.ts';
import type { SourceKind } from '../entry.ts';
import type { Plugin } from './plugins.ts';
import { findProjectRoot } from '../../workspace-roots.ts';
import type { ClaudePlaces } from '../session.ts';
import type { ReadConfigText } from '../../read-config-text.ts';
import type { SettingsReading } from './settings.ts';
import { createBrokenFile, parseServers, type ServerOrigin } from '../../../mcp/parse-servers.ts';

/** Reads MCP servers of `.mcp.json`, settings and plugins. Starts none, and never throws. */
export function readServers(
  places: ClaudePlaces,
  settings: readonly SettingsReading[],
  plugins: readonly Plugin[],
  readText: ReadConfigText,
): ConfiguredServers & { readonly ignored: readonly Ignored[] } {
  const read = [
    ...settings.map(readServersOfSettings),
    readServersOfProject(places, settings, readText),
    ...plugins.map((plugin) => readServersOfPlugin(plugin, readText)),
  ];
  return {
    ...mergeServers(read),
    ignored: [
      ...findIneffectiveSwitches(settings, read),
      ...read.flatMap(({ unreadable = [] }) => unreadable),
      ...read
        .flatMap(({ broken, unreadable }) => (unreadable === undefined ? broken : []))
        .map(({ file, line, why }) => createIgnored(file, line, why)),
      ...read.flatMap(({ servers }) => servers).flatMap(describeSwitchedOff),
    ],
  };
}

function createIgnored(file: string, line: number, why: string): Ignored {
  return { path: file, why: `line ${line}: ${why}` };
}

function describeSwitchedOff({ name, file, line, whyOff }: ServerConfig): Ignored[] {
  if (whyOff === null) return [];
  return [
    createIgnored(file, line, `the MCP server ${JSON.stringify(name)} is not used: ${whyOff}`),
  ];
}

interface Reading extends ConfiguredServers {
  readonly unreadable?: readonly Ignored[];
}

const SOURCES: Readonly<Partial<Record<SourceKind, ServerSource>>> = {
  user: 'user',
  project: 'project',
  local: 'local',
  flag: 'dynamic',
  managed: 'managed',
};

function readServersOfSettings({ source, settings }: SettingsReading): Reading {
  const part = settings.get('mcpServers');
  if (part === undefined) return NO_SERVERS;
  const { file, place, root } = source;
  const kind = SOURCES[source.kind] ?? 'dynamic';
  return parseServers(part, { ...PLAIN, source: kind, file, place, root });
}

const PLAIN = { prefix: '', variables: {}, whyOff: () => null } as const;

function readServersOfProject(
  places: ClaudePlaces,
  settings: readonly SettingsReading[],
  readText: ReadConfigText,
): Reading {
  const file = path.join(places.startDirectory, '.mcp.json');
  return readServerFile(
    {
      ...PLAIN,
      source: 'project',
      file,
      place: 'workspace',
      root: findProjectRoot(places),
      whyOff: (name) => explainProjectOff(name, settings),
    },
    readText,
  );
}

const ENABLING = ['enableAllProjectMcpServers', 'enabledMcpjsonServers'];

/** Claude Code's approval settings have no effect here, because they do not cover the content of a server. */
function findIneffectiveSwitches(
  settings: readonly SettingsReading[],
  read: readonly Reading[],
): Ignored[] {
  const isNeeded = read.some(({ servers }) => servers.some(({ place }) => place === 'workspace'));
  if (!isNeeded) return [];
  return settings.flatMap((each) =>
    ENABLING.flatMap((name) => {
      const part = each.settings.get(name);
      const why = `"${name}" starts no server here: run \`hookline trust\` to review them`;
      return part === undefined || part.value === false
        ? []
        : [createIgnored(each.source.file, part.line, why)];
    }),
  );
}

const DISABLED = 'disabledMcpjsonServers';

/** Any settings file may disable a project's server, but only trust enables it. */
function explainProjectOff(name: string, settings: readonly SettingsReading[]): string | null {
  const disabling = settings.find((each) => {
    const listed = each.settings.get(DISABLED)?.value;
    return Array.isArray(listed) && listed.includes(name);
  });
  return disabling === undefined ? null : `"${DISABLED}" in ${disabling.source.file} names it`;
}

/** Reads a file such as `.mcp.json`; returns no servers when it does not exist. */
function readServerFile(origin: ServerOrigin, readText: ReadConfigText): Reading {
  const text = readText(origin.file);
  if (text === null) return NO_SERVERS;
  if (typeof text !== 'string') {
    return { ...createBrokenFile(origin.file, text.why), unreadable: [text] };
  }
  return readServerText(text, origin);
}

function readServerText(text: string, origin: ServerOrigin): Reading {
  const root = parseLocatedJson(text);
  if ('why' in root) return createBrokenFile(origin.file, root.why, root.line);
  if (root.fields === null) {
    const why = `expected an object, found ${describePart(root)}`;
    return createBrokenFile(origin.file, why, root.line);
  }
  const part = root.fields.get('mcpServers');
  return part === undefined ? NO_SERVERS : parseServers(part, origin);
}

/**
 * Reads `.mcp.json` of a plugin, with or without `mcpServers` around its entries, and servers of the
 * manifest.
 */
function readServersOfPlugin(plugin: Plugin, readText: ReadConfigText): Reading {
  const { facts } = plugin;
  const usual = path.join(facts.root, '.mcp.json');
  const manifest = path.join(facts.root, '.claude-plugin', 'plugin.json');
  return mergeServers([
    readPluginFile(usual, plugin, readText),
    readManifest(manifest, plugin, readText),
  ]);
}

function createOrigin({ facts, place, root }: Plugin, file: string): ServerOrigin {
  const variables = dropUndefined({
    CLAUDE_PLUGIN_ROOT: facts.root,
    CLAUDE_PLUGIN_DATA: facts.data ?? undefined,
  });
  const prefix = `plugin:${facts.name}:`;
  return { source: 'plugin', file, place, root, variables, prefix, whyOff: () => null };
}

function readPluginFile(file: string, plugin: Plugin, readText: ReadConfigText): Reading {
  const text = readText(file);
  if (typeof text !== 'string') return NO_SERVERS;
  const origin = createOrigin(plugin, file);
  const root = parseLocatedJson(text);
  if ('why' in root) return createBrokenFile(file, root.why, root.line);
  return parseServers(root.fields?.get('mcpServers') ?? root, origin);
}

function readManifest(file: string, plugin: Plugin, readText: ReadConfigText): Reading {
  const text = readText(file);
  // A broken manifest is reported with the plugin's hooks.
  const root = typeof text === 'string' ? parseLocatedJson(text) : null;
  if (root === null || 'why' in root) return NO_SERVERS;
  const part = root.fields?.get('mcpServers');
  if (part === undefined) return NO_SERVERS;
  const serverFile = resolvePathInPlugin(part, plugin);
  if (serverFile === null) return parseServers(part, createOrigin(plugin, file));
  const isUsual = serverFile === path.join(plugin.facts.root, '.mcp.json');
  return isUsual ? NO_SERVERS : readPluginFile(serverFile, plugin, readText);
}

function resolvePathInPlugin({ value }: Part, { facts }: Plugin): string | null {
  if (typeof value !== 'string') return null;
  const inside = value.replace('${CLAUDE_PLUGIN_ROOT}', '.');
  return path.resolve(facts.root, inside);
}
