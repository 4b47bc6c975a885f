import { dropUndefined } from '../../base/defined.ts';
import { VERSION } from '../../base/version.ts';
import type { BasicLogger, PluginSetupContext } from '../../plugins/contract/plugin.ts';
import type { OnIssue } from '../../plugins/plugin-issue.ts';
import { LoadedPlugin } from '../../plugins/loaded-plugin.ts';
import {
  createPluginRegistry,
  type LoadedPlugins,
  type PluginRegistry,
} from '../../plugins/registry.ts';
import { getUserId } from '../moment.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { CheckedPlugin } from './check-plugins.ts';
import {
  getModuleInstance,
  loadPlugins,
  type ModelTarget,
  requireAllLoaded,
} from './load-plugins.ts';
import { getTimeLimits, type PluginOptions } from './plugin-options.ts';
import { createConsoleLogger, watchUncaught } from './process-ports.ts';
import { readWorkspaceInfo } from './workspace-info.ts';

/** Which plugins on disk are set up. */
export interface PluginsOnDisk {
  readonly opened: Pick<
    OpenedHooks,
    'claim' | 'config' | 'surroundings' | 'startDirectory' | 'stateDirectory'
  >;
  /** In declared order. */
  readonly found: readonly CheckedPlugin[];
  readonly sessionId: string;
  /** The number of this loading in its session: each has its own module instances. */
  readonly generation: number;
  /** Null sets them up for every model. */
  readonly target: ModelTarget | null;
  /** Throws PLUGIN_INVALID when one of them cannot be imported. */
  readonly requiresAll: boolean;
  /** Called when they are imported, before the first set-up. */
  readonly onLoaded?: (plugins: LoadedPlugins) => void;
}

export interface PluginSetUp {
  /** Plugins of the embedding program; they come first. */
  readonly objects: readonly unknown[];
  readonly disk?: PluginsOnDisk;
  readonly options: PluginOptions;
  readonly context: PluginSetupContext;
  readonly signal?: AbortSignal | undefined;
  readonly onIssue: OnIssue;
}

/**
 * Imports plugins and runs their set-up, for sessions, `plugin list` and similar commands, `hooks fire`,
 * and the SDK. The caller must dispose the registry.
 */
export async function setUpPlugins(request: PluginSetUp): Promise<PluginRegistry> {
  const { objects, disk, options, context, signal, onIssue } = request;
  const { loaded, ...others } =
    disk === undefined ? { loaded: [] } : await loadFromDisk(disk, request);
  const embedded = objects.map((plugin, index) => new LoadedPlugin(plugin, index, onIssue));
  return createPluginRegistry(
    { ...others, loaded: [...embedded, ...loaded] },
    {
      context,
      ...(await bindAutomation(request)),
      isStrict: options.isStrict === true,
      failsClosed: options.failsClosed === true,
      ...getTimeLimits(options),
      ...dropUndefined({ signal }),
      onIssue,
    },
  );
}

async function loadFromDisk(
  disk: PluginsOnDisk,
  { options, context, signal, onIssue }: PluginSetUp,
): Promise<LoadedPlugins> {
  const { found, target, opened, sessionId, generation, requiresAll } = disk;
  const { workspaceInfo, logger } = context;
  const names = new Map<string | null, string>();
  const usable = found.filter(({ status: { state } }) => state === 'ready');
  const watched = usable.map(
    ({ entry: { file, label } }) => [file, () => names.get(file) ?? label] as const,
  );
  const unwatch = watchUncaught(new Map(watched), onIssue);
  try {
    const imports = { opened, options, sessionId, generation, workspaceInfo, logger, signal };
    const plugins = await loadPlugins(found, target, { ...imports, onIssue });
    if (requiresAll) await requireAllLoaded(plugins);
    disk.onLoaded?.(plugins);
    for (const { file, name } of plugins.loaded) names.set(file, name);
    const instance = getModuleInstance(sessionId, generation);
    return { ...plugins, release: () => releaseLoaded(plugins, { instance, unwatch }) };
  } catch (error) {
    unwatch();
    throw error;
  }
}

/** Ends the processes of plugins and forgets the modules of those in this process. */
async function releaseLoaded(
  { loaded }: LoadedPlugins,
  { instance, unwatch }: { readonly instance: string; readonly unwatch: () => void },
): Promise<void> {
  unwatch();
  await Promise.all(loaded.map(async (each) => each.process?.end()));
  if (loaded.every((each) => each.process !== null)) return;
  const { releaseInstances } = await import('../../plugins/load/load-plugin.ts');
  await releaseInstances(instance);
}

async function bindAutomation({ context: { automation: port }, onIssue }: PluginSetUp) {
  if (port === undefined) return {};
  const { createAutomation } = await import('./contributions/automation.ts');
  return { automationFor: await createAutomation(port, onIssue) };
}

/** The context of set-ups outside of a session has neither session nor user. */
export function buildSetupContext(
  opened: Pick<OpenedHooks, 'workspaceRoots' | 'startDirectory' | 'surroundings'>,
  options: PluginOptions,
  session: (Pick<PluginSetupContext, 'emitEvent'> & { readonly sessionId: string }) | null,
): PluginSetupContext {
  const own = session === null ? {} : (options.context?.(session.sessionId) ?? {});
  const user = session === null ? undefined : { distinctId: getUserId(opened.surroundings) };
  const root = opened.workspaceRoots[0] ?? opened.startDirectory;
  return {
    session: session === null ? undefined : { sessionId: session.sessionId },
    client: { name: 'hookline', version: VERSION },
    cwd: opened.startDirectory,
    automation: undefined,
    telemetry: undefined,
    emitEvent: session?.emitEvent ?? (() => undefined),
    ...own,
    user: own.user ?? user,
    logger: own.logger ?? createLogger(options),
    workspaceInfo: { ...readWorkspaceInfo(root), ...own.workspaceInfo },
  };
}

function createLogger({ onConsole, showsLog = false }: PluginOptions): BasicLogger | undefined {
  if (onConsole === undefined) return undefined;
  return createConsoleLogger((text, plugin) => onConsole(`plugin ${plugin}: ${text}`), {
    showsLog,
  });
}
