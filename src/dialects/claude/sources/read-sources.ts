import { existsSync } from 'node:fs';
import path from 'node:path';
import { findRealPath } from '../../../base/paths.ts';
import { type Ignored, listRuleProblems, type PluginFolder } from '../../discovery.ts';
import { applyTimeLimits, computeSessionEndBudget } from '../config/time-limits.ts';
import type { BrokenEntry, Entry, Limited, Source } from '../entry.ts';
import type { HttpRules } from '../handlers/http-rules.ts';
import { isGate } from '../events.ts';
import { parsePermissions, type SourcePermissions } from './permissions.ts';
import type { ConfiguredServers } from '../../../mcp/server-config.ts';
import { readServers } from './read-servers.ts';
import {
  describeIgnoredPart,
  findClaudePlugins,
  type Plugin,
  readPlugin,
  type SourceHooks,
} from './plugins.ts';
import { readConfigText, type ReadConfigText } from '../../read-config-text.ts';
import type { ClaudePlaces } from '../session.ts';
import {
  readEnvironment,
  readHttpRules,
  isTrusted,
  findIneffectiveSettings,
  readSettingsFile,
  type SettingsReading,
  readWorkspaceEnvironment,
  type SettingsFile,
  listSettingsFiles,
} from './settings.ts';
import { parseSandbox, type SourceSandbox } from './sandbox.ts';
import { readSkillsAndAgents } from './skills-and-agents.ts';
import { createSwitches, describeSwitchedOff, type WhyOff } from './switches.ts';
import { findProjectRoot } from '../../workspace-roots.ts';

/** The content of all settings files, plugins, skills and agents. */
export interface SourcesReading {
  /** In declared order: user, project, local, flag, plugins, managed. */
  readonly entries: readonly Limited<Entry>[];
  readonly broken: readonly BrokenEntry[];
  readonly ignored: readonly Ignored[];
  /** Directories whose changes require another discovery; they need not exist. */
  readonly watched: readonly string[];
  /** The rules for HTTP hooks of a source. */
  readonly httpRules: (source: Source) => HttpRules;
  /** Variables for hooks in settings of the user, the caller and the administrator. */
  readonly env: Readonly<Record<string, string>>;
  /** The time that SessionEnd handlers share; the timeouts in `entries` are already limited to it. */
  readonly sessionEndMs: number;
  /** Files with a broken guard, whose allow rules must not count. */
  readonly brokenGateFiles: readonly string[];
  /** Every settings file that is read if it exists. */
  readonly settingsFiles: readonly Source[];
  /** Permission settings in declared order. Settings that disable hooks do not affect them. */
  readonly permissions: readonly SourcePermissions[];
  /** What settings take away from the sandbox of commands. */
  readonly sandboxes: readonly SourceSandbox[];
  /** MCP servers, which settings that disable hooks do not affect either. */
  readonly mcpServers: ConfiguredServers;
  /** Plugins that are in use. */
  readonly plugins: readonly PluginFolder[];
}

/** Reads every source. Runs nothing and never throws. */
export function readSources(
  places: ClaudePlaces,
  readText: ReadConfigText = readConfigText,
): SourcesReading {
  const files = listSettingsFiles(places);
  const read = files.map((file) => readSettingsFile(file, readText));
  const settings = read.filter((each) => each !== null && 'settings' in each);
  const { plugins, ignored: notPlugins } = canHavePlugins(places, settings)
    ? findClaudePlugins(places, settings)
    : NO_PLUGINS;
  const ofPlugins = plugins.map(readPlugin);
  const ofMarkdown = canHaveMarkdown(places, plugins) ? readSkillsAndAgents(places, plugins) : [];
  const found = orderByDeclaration(settings, [
    ...ofPlugins.flatMap(({ readings }) => readings),
    ...ofMarkdown,
  ]);
  const { running, off } = partitionBySwitch(found, createSwitches(settings));
  const sessionEndMs = computeSessionEndBudget(listEntries(settings.filter(isTrusted)), places.env);
  // A workspace's settings change the budget of its own hooks only.
  const workspaceEndMs = computeSessionEndBudget(listEntries(settings), places.env);
  const mcp = readServers(places, settings, plugins, readText);
  const gateFiles = listBrokenGateFiles(found);
  const permissions = settings.flatMap((each) => parsePermissions(each, gateFiles));
  const sandboxes = settings.flatMap((each) => parseSandbox(each, places.home));
  return {
    entries: running.flatMap(({ source, hooks }) =>
      applyTimeLimits(addEnvironment(hooks.entries, source, settings), {
        commandTimeoutMs: places.commandTimeoutMs,
        sessionEndMs: source.place === 'workspace' ? workspaceEndMs : sessionEndMs,
      }),
    ),
    broken: running.flatMap(({ hooks }) => hooks.broken),
    ignored: [
      ...read.filter((each) => each !== null && 'why' in each),
      ...notPlugins,
      ...ofPlugins.flatMap(({ ignored }) => ignored),
      ...ofMarkdown.flatMap(({ ignored }) => ignored),
      ...found.flatMap(listIgnoredParts),
      ...settings.flatMap(findIneffectiveSettings),
      ...permissions.flatMap(({ settings: each }) => listRuleProblems(each)),
      ...sandboxes.flatMap((each) => each.ignored),
      ...off,
      ...mcp.ignored,
      ...findMisplaced(places, collectRealPaths([...files, ...found])),
    ],
    watched: listWatchedDirectories(files, plugins),
    httpRules: (source) => readHttpRules(settings, source),
    env: readEnvironment(settings),
    sessionEndMs,
    brokenGateFiles: gateFiles,
    settingsFiles: files.flatMap(({ source, text }) => (text === null ? [source] : [])),
    permissions,
    sandboxes,
    mcpServers: mcp,
    plugins: plugins.map(({ facts }) => ({ name: facts.name, directory: facts.root })),
  };
}

/** Adds the variables of a workspace's settings to its own hooks; trust covers them with the entry. */
function addEnvironment(
  entries: readonly Entry[],
  { root, place }: Source,
  settings: readonly SettingsReading[],
): readonly Entry[] {
  if (place !== 'workspace' || root === null) return entries;
  const environment = readWorkspaceEnvironment(settings, root);
  if (Object.keys(environment).length === 0) return entries;
  return entries.map((entry) => ({ ...entry, environment }));
}

function listEntries(settings: readonly SettingsReading[]): readonly Entry[] {
  return settings.flatMap(({ hooks }) => hooks.entries);
}

const NO_PLUGINS = { plugins: [], ignored: [] };

/** Without settings and plugin directories, no plugin is looked for. */
function canHavePlugins(
  { pluginDirectories }: ClaudePlaces,
  settings: readonly SettingsReading[],
): boolean {
  return settings.length > 0 || pluginDirectories.length > 0;
}

const MARKDOWN_FOLDERS = ['skills', 'commands', 'agents'];

/** Without their folders, no skills, slash commands and sub-agents are looked for. */
function canHaveMarkdown(
  { claudeDirectory, startDirectory }: ClaudePlaces,
  plugins: readonly Plugin[],
): boolean {
  if (plugins.length > 0) return true;
  const directories = [claudeDirectory, path.join(startDirectory, '.claude')];
  return directories.some(
    (directory) =>
      directory !== null && MARKDOWN_FOLDERS.some((name) => existsSync(path.join(directory, name))),
  );
}

/** Managed settings come last. */
function orderByDeclaration(
  settings: readonly SettingsReading[],
  others: readonly SourceHooks[],
): SourceHooks[] {
  const isManaged = ({ source }: SettingsReading) => source.kind === 'managed';
  const toSourceHooks = (reading: SettingsReading) => ({ ...reading, plugin: null });
  return [
    ...settings.filter((each) => !isManaged(each)).map(toSourceHooks),
    ...others,
    ...settings.filter(isManaged).map(toSourceHooks),
  ];
}

function partitionBySwitch(
  found: readonly SourceHooks[],
  whyOff: WhyOff,
): { readonly running: readonly SourceHooks[]; readonly off: readonly Ignored[] } {
  const running: SourceHooks[] = [];
  const off: Ignored[] = [];
  for (const each of found) {
    const why = whyOff(each.source, each.plugin);
    if (why === null) running.push(each);
    else {
      const { entries, broken } = each.hooks;
      off.push(...[...entries, ...broken].map((hook) => describeSwitchedOff(hook, why)));
    }
  }
  return { running, off };
}

function listIgnoredParts({ source, hooks }: SourceHooks): Ignored[] {
  return hooks.ignored.map((part) => describeIgnoredPart(part, source));
}

function collectRealPaths(found: readonly Pick<SourceHooks, 'source'>[]): ReadonlySet<string> {
  return new Set(found.map(({ source }) => findRealPath(source.file) ?? source.file));
}

function listWatchedDirectories(
  files: readonly SettingsFile[],
  plugins: readonly Plugin[],
): readonly string[] {
  const ofSettings = files.flatMap(({ source, text }) =>
    text === null ? listDirectories(source) : [],
  );
  const ofPlugins = plugins.flatMap(({ facts }) => [
    path.join(facts.root, 'hooks'),
    path.join(facts.root, '.claude-plugin'),
  ]);
  return [...new Set([...ofSettings, ...ofPlugins])];
}

/** Lists the directory of a file and, for a link, that of its target. */
function listDirectories({ file }: Source): string[] {
  return [path.dirname(file), path.dirname(findRealPath(file) ?? file)];
}

/** Includes files that cannot be parsed at all, or have a misspelt key, because they may contain a guard. */
function listBrokenGateFiles(found: readonly SourceHooks[]): readonly string[] {
  const broken = found.flatMap(({ hooks }) => hooks.broken);
  const gates = broken.filter(({ event }) => event === null || isGate(event));
  const misspelt = found.filter(({ hooks }) => hooks.ignored.some((part) => part.mayHideGate));
  return [...new Set([...gates, ...misspelt].map(({ source }) => source.file))];
}

/**
 * Finds files that look like hook configuration and are not read. `read` has the real paths of those
 * that are.
 */
function findMisplaced(places: ClaudePlaces, read: ReadonlySet<string>): Ignored[] {
  return listCandidates(places)
    .filter(({ path: file }) => {
      const real = findRealPath(file);
      return real !== null && !read.has(real);
    })
    .map((each) => ({ ...each, why: `is not read: ${each.why}` }));
}

function listCandidates(places: ClaudePlaces): Ignored[] {
  const { claudeDirectory, startDirectory } = places;
  return [
    ...(claudeDirectory === null ? [] : listBesideUserSettings(claudeDirectory, startDirectory)),
    {
      path: path.join(startDirectory, '.claude', 'hooks.json'),
      why: 'copy its hooks with `hookline hooks import --from claude` and remove it, or move them to .claude/settings.json',
      mayHideHook: true,
    },
    {
      path: path.join(startDirectory, 'hooks', 'hooks.json'),
      why: 'it is part of a plugin; name the plugin with --plugin-dir, or move its hooks to .claude/settings.json',
    },
    ...listAboveStart(places),
  ];
}

function listBesideUserSettings(claudeDirectory: string, startDirectory: string): Ignored[] {
  const target = path.join(claudeDirectory, 'settings.json');
  const isStart = path.join(startDirectory, '.claude') === claudeDirectory;
  return [
    {
      path: path.join(claudeDirectory, 'hooks.json'),
      why: `copy its hooks with \`hookline hooks import --from claude --global\` and remove it, or move them to ${target}`,
      mayHideHook: true,
    },
    { path: path.join(claudeDirectory, 'hooks', 'hooks.json'), why: `move its hooks to ${target}` },
    ...(isStart
      ? []
      : [{ path: path.join(claudeDirectory, 'settings.local.json'), why: `move it to ${target}` }]),
  ];
}

function listAboveStart(places: ClaudePlaces): Ignored[] {
  const root = findProjectRoot(places);
  return ['settings.json', 'settings.local.json'].map((name) => ({
    path: path.join(root, '.claude', name),
    why: `settings are read from the start directory only; start in ${root}, or put the hooks into ${path.join(root, '.cline', 'hooks.json')}`,
  }));
}
