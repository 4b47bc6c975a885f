import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { dropUndefined } from '../../../base/defined.ts';
import { HooklineError } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { readSurroundings, getStateDirectory } from '../../../host/surroundings.ts';
import { getTimeLimits } from '../../../host/plugins/plugin-options.ts';
import { acquireProcessClaim } from '../../../trust/claims.ts';
import type { AgentPlugin, PluginSetupContext } from '../../../plugins/contract/plugin.ts';
import type { PluginEntry } from '../../../plugins/entry.ts';
import { findPluginModulesAt } from '../../../plugins/find/find-modules.ts';
import type { PluginProblem } from '../../../plugins/find/read-package.ts';
import type { ProvidedModules } from '../../../plugins/load/loading.ts';
import { readManifest } from '../../../plugins/manifest.ts';
import { createUnsupportedError } from '../errors.ts';
import { bindPlugin } from './bind-plugin.ts';
import type { ResolveAgentPluginPathsOptions } from './plugin-paths.ts';

/** Only plugins for this provider and model are loaded; without them, all. */
export interface PluginTargeting {
  providerId?: string;
  modelId?: string;
}

/** What a plugin's `setup` gets in its context, unless the caller of `setup` says otherwise. */
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

type LoadOptions = LoadAgentPluginFromPathOptions & PluginTargeting & { loadId?: string };

export interface ResolveAndLoadAgentPluginsOptions
  extends ResolveAgentPluginPathsOptions, Omit<LoadOptions, 'cwd'> {
  /** Both load plugins into this process; only a session’s `pluginIsolation` starts processes. */
  mode?: 'sandbox' | 'in_process';
  /** The time limit of a hook; without one, that of the session that it is used in. */
  hookTimeoutMs?: number;
  /** The time limit of a tool, command, rule or message builder. */
  contributionTimeoutMs?: number;
  /** Gets what the plugins emit, in the place of a session. */
  onEvent?: (event: { name: string; payload?: unknown }) => void;
  /** Which plugins of the workspace are loaded: those that the user trusted, or all. */
  trust?: 'record' | 'all';
}

export interface ResolvedAgentPlugins extends Omit<LoadedAgentPlugins, 'plugins'> {
  extensions: AgentPlugin[];
  shutdown(): Promise<void>;
}

/** Loads the plugins that the options name, then all that are found, trusted and enabled. */
export type ResolveAndLoadPlugins = (
  options?: ResolveAndLoadAgentPluginsOptions,
) => Promise<ResolvedAgentPlugins>;

/** Creates the functions that load plugins from disk without a session. */
export function createPluginLoading(provided: ProvidedModules) {
  async function loadWithDiagnostics(
    pluginPaths: readonly string[],
    options: LoadOptions = {},
  ): Promise<LoadedAgentPlugins> {
    refuseExportName(options);
    const cwd = path.resolve(readSurroundings().cwd, options.cwd ?? '');
    const found = pluginPaths.map((each) => findPluginModulesAt(path.resolve(cwd, each)));
    const failed = found.flatMap((each) => each.problems.map(toFailure));
    const entries = found.flatMap((each) => each.entries);
    const loaded = await loadEntries(entries, options, provided);
    return { ...loaded, failures: [...failed, ...loaded.failures] };
  }

  const resolveAndLoadAgentPlugins: ResolveAndLoadPlugins = async (options = {}) => {
    const cwd = path.resolve(readSurroundings().cwd, options.workspacePath ?? options.cwd ?? '');
    const { emitEvent, loadId, remove } = await openEventPort(options.onEvent);
    const loading = { ...options, loadId };
    const namedPlugins = await loadWithDiagnostics(options.pluginPaths ?? [], loading);
    const { trusted, failures } = await findTrusted(cwd, options.trust);
    const isNew = ({ file }: PluginEntry): boolean => !namedPlugins.pluginPaths.includes(file);
    const found = await loadEntries(trusted.filter(isNew), loading, provided);
    const bind = (each: AgentPlugin): AgentPlugin =>
      bindPlugin(each, { ...toLimits(options), context: {}, ...dropUndefined({ emitEvent }) });
    return {
      extensions: [...namedPlugins.plugins, ...found.plugins].map(bind),
      pluginPaths: [...namedPlugins.pluginPaths, ...found.pluginPaths],
      failures: [...namedPlugins.failures, ...failures, ...found.failures],
      warnings: [...namedPlugins.warnings, ...found.warnings],
      shutdown: async () => remove(),
    };
  };

  return {
    resolveAndLoadAgentPlugins,
    /** A plugin that cannot be loaded is among the failures, and the others are loaded. */
    loadAgentPluginsFromPathsWithDiagnostics: loadWithDiagnostics,
    /** Imports one plugin and checks its manifest. Throws PLUGIN_INVALID when it cannot be used. */
    loadAgentPluginFromPath: async (
      pluginPath: string,
      options?: LoadAgentPluginFromPathOptions,
    ): Promise<AgentPlugin> => {
      const [plugin] = requireAll(await loadWithDiagnostics([pluginPath], options));
      if (plugin !== undefined) return plugin;
      throw new HooklineError('PLUGIN_INVALID', {
        message: createFailure(pluginPath, 'it contains no plugin').message,
        hint: 'A plugin is the default export of its module, or the one named "plugin".',
      });
    },
    /** Throws PLUGIN_INVALID for the first that cannot be loaded. */
    loadAgentPluginsFromPaths: async (
      pluginPaths: readonly string[],
      options?: LoadOptions,
    ): Promise<AgentPlugin[]> => requireAll(await loadWithDiagnostics(pluginPaths, options)),
  };
}

function toLimits({ hookTimeoutMs, contributionTimeoutMs }: ResolveAndLoadAgentPluginsOptions) {
  return dropUndefined({ hookTimeoutMs, contributionTimeoutMs });
}

function toFailure({ path: place, message }: PluginProblem): PluginInitializationFailure {
  return createFailure(place, message);
}

function requireAll({ plugins, failures: [failure] }: LoadedAgentPlugins): AgentPlugin[] {
  if (failure === undefined) return plugins;
  throw new HooklineError('PLUGIN_INVALID', { message: failure.message });
}

/** Takes what plugins emit, through their context or the global host, for the caller of a loader. */
async function openEventPort(onEvent: ResolveAndLoadAgentPluginsOptions['onEvent']) {
  const loadId = randomUUID();
  if (onEvent === undefined) return { emitEvent: undefined, loadId, remove: () => undefined };
  const { installPluginHost } = await import('../../../host/plugins/process-ports.ts');
  const emitEvent = (name: string, payload?: unknown): void => onEvent({ name, payload });
  return {
    emitEvent,
    loadId,
    remove: installPluginHost({ sessionId: loadId, emitEvent }),
  };
}

async function findTrusted(cwd: string, trust: 'record' | 'all' = 'record') {
  const [{ openHooks }, { checkPlugins }] = await Promise.all([
    import('../../../host/open-hooks.ts'),
    import('../../../host/plugins/check-plugins.ts'),
  ]);
  const found = checkPlugins(openHooks({ cwd, trust }));
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

interface Loaded {
  readonly file: string;
  readonly plugin: AgentPlugin;
}

/** Of several plugins with one name the last is used, with a warning about the others. */
async function loadEntries(
  entries: readonly PluginEntry[],
  options: LoadOptions,
  provided: ProvidedModules,
): Promise<LoadedAgentPlugins> {
  const outcomes = await Promise.all(entries.map((entry) => loadEntry(entry, options, provided)));
  const failures = outcomes.filter((each) => each !== null && 'phase' in each);
  const all = outcomes.filter((each) => each !== null && 'plugin' in each);
  const matching = all.filter(({ plugin }) => isForModel(plugin, options));
  const winners = new Map(matching.map((each) => [each.plugin.name, each]));
  const warnings = matching.flatMap((each) =>
    describeOverridden(each, winners.get(each.plugin.name)),
  );
  return {
    plugins: [...winners.values()].map(({ plugin }) =>
      bindPlugin(plugin, { context: readContext(options) }),
    ),
    pluginPaths: [...winners.values()].map(({ file }) => file),
    failures,
    warnings,
  };
}

/** Null for a module that only others import. */
async function loadEntry(
  entry: PluginEntry,
  { importTimeoutMs, loadId }: LoadOptions,
  provided: ProvidedModules,
): Promise<Loaded | PluginInitializationFailure | null> {
  const { file } = entry;
  const { getCacheDirectory } = await import('../../../host/plugins/load-plugins.ts');
  const { loadPlugin } = await import('../../../plugins/load/load-plugin.ts');
  const surroundings = readSurroundings();
  const limits = getTimeLimits(dropUndefined({ importTimeoutMs }), surroundings.env);
  acquireProcessClaim(getStateDirectory(surroundings));
  const loading = await loadPlugin({
    entry,
    provided,
    cacheDirectory: getCacheDirectory(getStateDirectory(surroundings)),
    // The id of the loading comes first: by it the one is found that hears of what the plugin emits.
    copy: `${loadId ?? randomUUID()}-${randomUUID()}`,
    timeoutMs: limits.importTimeoutMs,
  });
  if (loading.kind === 'helper') return null;
  if (loading.kind === 'failed') return createFailure(file, loading.message);
  const { plugin } = loading;
  const problem = findProblem(plugin);
  if (!isPlugin(plugin) || problem !== null) {
    return createFailure(file, problem ?? 'it is not a plugin');
  }
  return { file, plugin };
}

/** Getters of foreign objects may throw. */
function findProblem(plugin: unknown): string | null {
  try {
    return readManifest(plugin, 'without a name').problem;
  } catch (error) {
    return `it cannot be read: ${String(error)}`;
  }
}

function isPlugin(plugin: unknown): plugin is AgentPlugin {
  return isRecord(plugin) && typeof plugin['name'] === 'string' && isRecord(plugin['manifest']);
}

function isForModel({ manifest }: AgentPlugin, { providerId, modelId }: PluginTargeting): boolean {
  const includesName = (
    names: readonly string[] | undefined,
    name: string | undefined,
  ): boolean => {
    const targets = (names ?? []).map((each) => each.trim()).filter((each) => each !== '');
    return targets.length === 0 || name === undefined || targets.includes(name);
  };
  return includesName(manifest.providerIds, providerId) && includesName(manifest.modelIds, modelId);
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

function readContext(options: LoadOptions): Partial<KnownContext> {
  const keys = KNOWN.filter((key) => options[key] !== undefined);
  return Object.fromEntries(keys.map((key) => [key, options[key]]));
}
