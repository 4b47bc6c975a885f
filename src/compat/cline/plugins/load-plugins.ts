import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { HooklineError } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { readSurroundings, getStateDirectory } from '../../../host/config.ts';
import { getTimeLimits } from '../../../host/plugins/plugin-options.ts';
import type { AgentPlugin, PluginSetupContext } from '../../../plugins/contract/plugin.ts';
import type { PluginEntry } from '../../../plugins/entry.ts';
import { findPluginsAt } from '../../../plugins/find/find-plugins.ts';
import type { PluginProblem } from '../../../plugins/find/read-package.ts';
import type { ProvidedModules } from '../../../plugins/load/loading.ts';
import { readManifest } from '../../../plugins/manifest.ts';
import { createUnsupportedError } from '../errors.ts';
import type { ResolveAgentPluginPathsOptions } from './find-plugins.ts';

/** Whom a plugin is loaded for; left out, it is loaded for everybody. */
export interface PluginTargeting {
  providerId?: string;
  modelId?: string;
}

/** What its `setup` is told, beside what whoever calls it says. */
type KnownContext = Pick<
  PluginSetupContext,
  'session' | 'client' | 'user' | 'workspaceInfo' | 'automation' | 'logger' | 'telemetry'
>;

export interface LoadAgentPluginFromPathOptions extends KnownContext {
  /** Only `default` and `plugin` are plugins here. */
  exportName?: string;
  cwd?: string;
  useCache?: boolean;
  importTimeoutMs?: number;
}

export interface PluginInitializationFailure {
  pluginPath: string;
  pluginName?: string;
  phase: 'load' | 'setup';
  message: string;
  stack?: string;
}

export interface PluginInitializationWarning {
  type: 'duplicate_plugin_override';
  pluginPath: string;
  pluginName: string;
  overriddenPluginPath: string;
  message: string;
}

export interface LoadedAgentPlugins {
  plugins: AgentPlugin[];
  pluginPaths: string[];
  failures: PluginInitializationFailure[];
  warnings: PluginInitializationWarning[];
}

type LoadOptions = LoadAgentPluginFromPathOptions & PluginTargeting;

export interface ResolveAndLoadAgentPluginsOptions
  extends ResolveAgentPluginPathsOptions, Omit<LoadOptions, 'cwd'> {
  /** Both load plugins into this process; a session’s `pluginIsolation` sets them apart. */
  mode?: 'sandbox' | 'in_process';
  hookTimeoutMs?: number;
  contributionTimeoutMs?: number;
  onEvent?: (event: { name: string; payload?: unknown }) => void;
}

export interface ResolvedAgentPlugins extends Omit<LoadedAgentPlugins, 'plugins'> {
  extensions: AgentPlugin[];
  shutdown(): Promise<void>;
}

/** Plugins from disk, for whoever runs them without a session. */
export interface PluginLoading {
  /** Imports one plugin and checks its manifest. Throws PLUGIN_INVALID when that is no use. */
  readonly loadAgentPluginFromPath: (
    pluginPath: string,
    options?: LoadAgentPluginFromPathOptions,
  ) => Promise<AgentPlugin>;
  /** Throws PLUGIN_INVALID for the first that cannot be loaded. */
  readonly loadAgentPluginsFromPaths: (
    pluginPaths: readonly string[],
    options?: LoadOptions,
  ) => Promise<AgentPlugin[]>;
  /** One that cannot be loaded costs itself only. */
  readonly loadAgentPluginsFromPathsWithDiagnostics: (
    pluginPaths: readonly string[],
    options?: LoadOptions,
  ) => Promise<LoadedAgentPlugins>;
  /** Those that somebody names, then all that are found, as far as they are trusted and not switched off. */
  readonly resolveAndLoadAgentPlugins: (
    options?: ResolveAndLoadAgentPluginsOptions,
  ) => Promise<ResolvedAgentPlugins>;
}

export function createPluginLoading(provided: ProvidedModules): PluginLoading {
  async function withDiagnostics(
    pluginPaths: readonly string[],
    options: LoadOptions = {},
  ): Promise<LoadedAgentPlugins> {
    refuseExportName(options);
    const cwd = path.resolve(readSurroundings().cwd, options.cwd ?? '');
    const found = pluginPaths.map((each) => findPluginsAt(path.resolve(cwd, each)));
    const failed = found.flatMap((each) => each.problems.map(toFailure));
    const entries = found.flatMap((each) => each.entries);
    const loaded = await loadEntries(entries, { ...options, provided });
    return { ...loaded, failures: [...failed, ...loaded.failures] };
  }

  return {
    loadAgentPluginsFromPathsWithDiagnostics: withDiagnostics,
    async loadAgentPluginFromPath(pluginPath, options) {
      const [plugin] = requireAll(await withDiagnostics([pluginPath], options));
      if (plugin !== undefined) return plugin;
      throw new HooklineError('PLUGIN_INVALID', {
        message: createFailure(pluginPath, 'no plugin is in it').message,
        hint: 'A plugin is the default export of its module, or the one named "plugin".',
      });
    },
    async loadAgentPluginsFromPaths(pluginPaths, options) {
      return requireAll(await withDiagnostics(pluginPaths, options));
    },
    async resolveAndLoadAgentPlugins(options = {}) {
      const cwd = path.resolve(readSurroundings().cwd, options.workspacePath ?? options.cwd ?? '');
      const named = await withDiagnostics(options.pluginPaths ?? [], options);
      const { trusted, failures } = await findTrusted(cwd);
      const isNew = ({ file }: PluginEntry): boolean => !named.pluginPaths.includes(file);
      const found = await loadEntries(trusted.filter(isNew), { ...options, provided });
      return {
        extensions: [...named.plugins, ...found.plugins],
        pluginPaths: [...named.pluginPaths, ...found.pluginPaths],
        failures: [...named.failures, ...failures, ...found.failures],
        warnings: [...named.warnings, ...found.warnings],
        shutdown: async () => undefined,
      };
    },
  };
}

function toFailure({ path: place, message }: PluginProblem): PluginInitializationFailure {
  return createFailure(place, message);
}

function requireAll({ plugins, failures: [failure] }: LoadedAgentPlugins): AgentPlugin[] {
  if (failure === undefined) return plugins;
  throw new HooklineError('PLUGIN_INVALID', { message: failure.message });
}

interface Trusted {
  readonly trusted: readonly PluginEntry[];
  readonly failures: readonly PluginInitializationFailure[];
}

async function findTrusted(cwd: string): Promise<Trusted> {
  const [{ openHooks }, { findPlugins }] = await Promise.all([
    import('../../../host/open-hooks.ts'),
    import('../../../host/plugins/find-plugins.ts'),
  ]);
  const found = findPlugins(openHooks({ cwd }));
  const withheld = found.filter(({ status }) => !['ready', 'disabled'].includes(status.state));
  return {
    trusted: found.filter(({ status }) => status.state === 'ready').map(({ entry }) => entry),
    failures: withheld.map(({ entry, status }) => ({
      ...createFailure(entry.file, `it is not loaded: ${status.why}`),
      pluginName: entry.label,
    })),
  };
}

function refuseExportName({ exportName = 'plugin' }: LoadAgentPluginFromPathOptions): void {
  if (exportName === 'plugin' || exportName === 'default') return;
  throw createUnsupportedError(
    `plugin in an export named ${JSON.stringify(exportName)}`,
    'Export it as default, or as "plugin".',
  );
}

function createFailure(pluginPath: string, why: string): PluginInitializationFailure {
  return { pluginPath, phase: 'load', message: `Invalid plugin module at ${pluginPath}: ${why}` };
}

interface Loading extends LoadOptions {
  readonly provided: ProvidedModules;
}

interface Loaded {
  readonly file: string;
  readonly plugin: AgentPlugin;
}

/** Of one name the later counts, with a warning. */
async function loadEntries(
  entries: readonly PluginEntry[],
  options: Loading,
): Promise<LoadedAgentPlugins> {
  const outcomes = await Promise.all(entries.map((entry) => loadEntry(entry, options)));
  const failures = outcomes.filter((each) => each !== null && 'phase' in each);
  const all = outcomes.filter((each) => each !== null && 'plugin' in each);
  const meant = all.filter(({ plugin }) => isMeantFor(plugin, options));
  const winners = new Map(meant.map((each) => [each.plugin.name, each]));
  const warnings = meant.flatMap((each) => describeOverridden(each, winners.get(each.plugin.name)));
  return {
    plugins: [...winners.values()].map(({ plugin }) => withContext(plugin, options)),
    pluginPaths: [...winners.values()].map(({ file }) => file),
    failures,
    warnings,
  };
}

/** Null for a module that only others import. */
async function loadEntry(
  entry: PluginEntry,
  { importTimeoutMs: timeoutMs, provided }: Loading,
): Promise<Loaded | PluginInitializationFailure | null> {
  const { file } = entry;
  const { getCacheDirectory } = await import('../../../host/plugins/load-plugins.ts');
  const { loadPlugin } = await import('../../../plugins/load/load-plugin.ts');
  const loading = await loadPlugin({
    entry,
    provided,
    cacheDirectory: getCacheDirectory(getStateDirectory(readSurroundings())),
    copy: randomUUID(),
    timeoutMs: timeoutMs ?? getTimeLimits({}).importTimeoutMs,
  });
  if (loading.kind === 'helper') return null;
  if (loading.kind === 'failed') return createFailure(file, loading.message);
  const { plugin } = loading;
  const problem = findProblem(plugin);
  if (!isPlugin(plugin) || problem !== null) {
    return createFailure(file, problem ?? 'it is no plugin');
  }
  return { file, plugin };
}

/** Getters of foreign objects may throw. */
function findProblem(plugin: unknown): string | null {
  try {
    return readManifest(plugin, 'without a name').problem;
  } catch (error) {
    return `it cannot be looked at: ${String(error)}`;
  }
}

function isPlugin(plugin: unknown): plugin is AgentPlugin {
  return isRecord(plugin) && typeof plugin['name'] === 'string' && isRecord(plugin['manifest']);
}

function isMeantFor({ manifest }: AgentPlugin, { providerId, modelId }: PluginTargeting): boolean {
  const allows = (names: readonly string[] | undefined, name: string | undefined): boolean => {
    const wanted = (names ?? []).map((each) => each.trim()).filter((each) => each !== '');
    return wanted.length === 0 || name === undefined || wanted.includes(name);
  };
  return allows(manifest.providerIds, providerId) && allows(manifest.modelIds, modelId);
}

function describeOverridden(
  { file, plugin }: Loaded,
  winner: Loaded | undefined,
): PluginInitializationWarning[] {
  if (winner === undefined || winner.plugin === plugin) return [];
  return [
    {
      type: 'duplicate_plugin_override',
      pluginPath: winner.file,
      pluginName: plugin.name,
      overriddenPluginPath: file,
      message: `${winner.file} is used instead of ${file}: both are named "${plugin.name}"`,
    },
  ];
}

const KNOWN = [
  'session',
  'client',
  'user',
  'workspaceInfo',
  'automation',
  'logger',
  'telemetry',
] as const;

/** Whatever else its author put on it stays within reach of its setup and hooks. */
function withContext(plugin: AgentPlugin, options: LoadOptions): AgentPlugin {
  const known = KNOWN.filter((key) => options[key] !== undefined);
  if (known.length === 0 || plugin.setup === undefined) return plugin;
  const given = Object.fromEntries(known.map((key) => [key, options[key]]));
  const told: AgentPlugin['setup'] = (api, ctx) => plugin.setup?.(api, { ...given, ...ctx });
  return new Proxy(plugin, {
    get: (own, name): unknown => (name === 'setup' ? told : Reflect.get(own, name)),
  });
}
