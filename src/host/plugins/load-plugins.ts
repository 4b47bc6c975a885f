import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { notifyIfSlow } from '../../plugins/call-with-timeout.ts';
import type { BasicLogger, WorkspaceInfo } from '../../plugins/contract/plugin.ts';
import type { OnIssue } from '../../plugins/plugin-issue.ts';
import type { Loading } from '../../plugins/load/loading.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import type { LoadedPlugin } from '../../plugins/loaded-plugin.ts';
import type { LoadedPlugins, PluginState, PluginStatus } from '../../plugins/registry.ts';
import { buildHookEnvironment, type HookState } from '../hook-set.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import {
  describeReplacement,
  findReplacement,
  type CheckedPlugin,
  getSearchPlace,
} from './check-plugins.ts';
import { getTimeLimits, type PluginOptions } from './plugin-options.ts';
import { blockExit } from './process-ports.ts';

/** The model of a session, for plugins that are made for certain models. */
export interface ModelTarget {
  /** All names that the provider has, here and in Cline; its own first. */
  readonly providers: readonly string[];
  readonly model: string | null;
}

/** How plugins on disk are imported. */
export interface PluginImports {
  readonly opened: Pick<
    OpenedHooks,
    'claim' | 'config' | 'surroundings' | 'startDirectory' | 'stateDirectory'
  >;
  readonly options: PluginOptions;
  readonly sessionId: string;
  /** The number of this loading in its session: each has its own module instances. */
  readonly generation: number;
  readonly workspaceInfo?: WorkspaceInfo | undefined;
  /** Gets what an isolated plugin prints. */
  readonly logger?: BasicLogger | undefined;
  /** Aborts the import. */
  readonly signal?: AbortSignal | undefined;
  readonly onIssue: OnIssue;
}

/**
 * Imports every plugin in the state `ready`, each within its own time limit; a null target imports them for
 * every model. A plugin that fails is reported, and the others are loaded.
 */
export async function loadPlugins(
  found: readonly CheckedPlugin[],
  target: ModelTarget | null,
  imports: PluginImports,
): Promise<Required<Omit<LoadedPlugins, 'release'>>> {
  const { onIssue } = imports;
  const unused: PluginStatus[] = [];
  const madeForOtherModels: unknown[] = [];
  const loaded: LoadedPlugin[] = [];
  const usable = found.filter((each) => {
    const status = checkState(each, onIssue);
    if (status !== null) unused.push(status);
    return status === null;
  });
  const results = await Promise.all(usable.map(({ entry }) => importReporting(entry, imports)));
  for (const [index, { entry }] of usable.entries()) {
    const loading = results[index];
    if (loading === undefined || loading.kind === 'helper') continue;
    if (loading.kind === 'failed') {
      const message = `it is not loaded: ${loading.message}`;
      onIssue({ plugin: entry.label, phase: 'import', level: 'error', message });
      unused.push(toStatus(entry, 'failed', loading.message));
      continue;
    }
    const mismatch = target === null ? null : explainMismatch(loading.plugin, target);
    if (mismatch === null) {
      loaded.push(loading);
      continue;
    }
    unused.push(toStatus(entry, 'skipped', mismatch));
    madeForOtherModels.push(loading.plugin);
    void loading.process?.end();
  }
  const { used, replaced } = dropDuplicates(loaded, usable, onIssue);
  return { loaded: used, unused: [...unused, ...replaced], madeForOtherModels };
}

/** Throws PLUGIN_INVALID when a plugin failed to load, after it has ended the processes of the others. */
export async function requireAllLoaded({
  loaded,
  unused = [],
}: Pick<LoadedPlugins, 'loaded' | 'unused'>): Promise<void> {
  const broken = unused.find(({ state }) => state === 'failed');
  if (broken === undefined) return;
  await Promise.all(loaded.map(async (each) => each.process?.end()));
  throw new HooklineError('PLUGIN_INVALID', {
    message: `the plugin "${broken.name}" is not loaded: ${broken.lastError ?? 'it failed'}`,
    hint: 'Fix it or leave it out; without `strict` the session starts without it.',
  });
}

/** Null for a plugin that may be imported. A plugin that may not is reported, except a disabled one. */
function checkState(checked: CheckedPlugin, onIssue: OnIssue): PluginStatus | null {
  const { entry, unit, status } = checked;
  const { state, why } = status;
  if (state === 'ready') return null;
  const pluginStatus = toStatus(entry, STATES[state], why === '' ? null : why);
  if (state === 'disabled') return pluginStatus;
  const advice = state === 'broken' ? '' : '; run `hookline trust` to review it';
  const message = `it is not loaded: ${why}${advice}`;
  const issue = { plugin: entry.label, phase: 'discover', level: 'error', message } as const;
  onIssue(unit.mistakes === undefined ? issue : { ...issue, isMissingGuard: true });
  return pluginStatus;
}

const STATES: Readonly<Record<Exclude<HookState, 'ready'>, PluginState>> = {
  untrusted: 'untrusted',
  modified: 'modified',
  disabled: 'disabled',
  broken: 'failed',
};

function toStatus(entry: PluginEntry, state: PluginState, lastError: string | null): PluginStatus {
  return { name: entry.label, state, lastError, contributes: null, entry };
}

function importReporting(entry: PluginEntry, imports: PluginImports): Promise<Loading> {
  const message = 'importing it takes long; the session waits for it';
  return notifyIfSlow(importEntry(entry, imports), () =>
    imports.onIssue({ plugin: entry.label, phase: 'import', level: 'warning', message }),
  );
}

/** Imports one plugin, in the process that the settings ask for. Never throws. */
export async function importEntry(entry: PluginEntry, imports: PluginImports): Promise<Loading> {
  const { options, opened, sessionId, generation, signal, onIssue } = imports;
  opened.claim.hold();
  const isolation = options.isolation ?? opened.config.settings['plugins.isolation'];
  if (isolation === 'process') return importIsolated(entry, imports);
  blockExit();
  const { loadPlugin } = await import('../../plugins/load/load-plugin.ts');
  return loadPlugin({
    entry,
    provided: (await options.provided?.()) ?? (() => null),
    cacheDirectory: getCacheDirectory(opened.stateDirectory),
    copy: getModuleInstance(sessionId, generation),
    timeoutMs: getTimeLimits(options, opened.surroundings.env).importTimeoutMs,
    signal,
    onIssue,
  });
}

/** The id of the module instances of one loading. Starts with the session's id, by which the session is found. */
export function getModuleInstance(sessionId: string, generation: number): string {
  return `${sessionId}-${generation}`;
}

async function importIsolated(entry: PluginEntry, imports: PluginImports): Promise<Loading> {
  const { options, opened, workspaceInfo, sessionId, signal, onIssue } = imports;
  const { loadIsolated } = await import('../../plugins/isolation/isolate.ts');
  const { surroundings, config, startDirectory } = opened;
  return loadIsolated({
    entry,
    cwd: startDirectory,
    environment: buildHookEnvironment({
      surroundings,
      pass: config.settings['env.pass'],
      sessionId,
    }),
    cacheDirectory: getCacheDirectory(opened.stateDirectory),
    ...getTimeLimits(options, surroundings.env),
    isStrict: options.isStrict === true,
    workspaceInfo,
    signal,
    logger: toLogger(options) ?? imports.logger,
    onIssue,
  });
}

/** Output of isolated plugins goes to the same function as the console of the others. */
function toLogger({ onConsole }: PluginOptions): BasicLogger | undefined {
  if (onConsole === undefined) return undefined;
  return { debug: () => undefined, log: onConsole, error: onConsole };
}

/** Where transpiled modules are cached. */
export function getCacheDirectory(stateDirectory: string | null): string | null {
  return stateDirectory === null ? null : path.join(stateDirectory, 'cache', 'plugins');
}

/** Why a plugin is not made for a model; null when it is. */
export function explainMismatch(
  plugin: unknown,
  { providers: own, model }: ModelTarget,
): string | null {
  const providers = readTargets(plugin, 'providerIds');
  if (providers.length > 0 && !providers.some((each) => own.includes(each))) {
    return `it is made for ${providers.join(', ')}, and this session uses ${own[0]}`;
  }
  const models = readTargets(plugin, 'modelIds');
  if (models.length === 0 || (model !== null && models.includes(model))) return null;
  return `it is made for ${models.join(', ')}, and this session uses ${model ?? 'another model'}`;
}

/** The providers or models that the manifest names; none means all. */
function readTargets(plugin: unknown, key: 'providerIds' | 'modelIds'): readonly string[] {
  const names = readManifestField(plugin, key);
  if (!Array.isArray(names)) return [];
  const texts = names.filter((each) => typeof each === 'string');
  return texts.map((each) => each.trim()).filter((each) => each !== '');
}

/** Getters of foreign objects may throw; the registry reports it. */
function readManifestField(plugin: unknown, key: string): unknown {
  try {
    const manifest = isRecord(plugin) ? plugin['manifest'] : null;
    return isRecord(manifest) ? manifest[key] : null;
  } catch {
    return null;
  }
}

/** Of several plugins with one name, one is used. */
function dropDuplicates(
  loaded: readonly LoadedPlugin[],
  usable: readonly CheckedPlugin[],
  onIssue: OnIssue,
) {
  const namedPlugins = usable.flatMap(({ entry, unit }) => {
    const own = loaded.find((each) => each.entry === entry);
    return own === undefined ? [] : [{ entry, name: own.name, from: getSearchPlace(unit, entry) }];
  });
  const replaced: PluginStatus[] = [];
  const used = loaded.filter(({ name, process }, index) => {
    const winner = findReplacement(namedPlugins, index);
    const { entry } = namedPlugins[index] ?? {};
    if (winner === undefined || entry === undefined) return true;
    const message = describeReplacement(winner);
    onIssue({ plugin: name, phase: 'validate', level: 'warning', message });
    replaced.push({ ...toStatus(entry, 'failed', message), name });
    void process?.end();
    return false;
  });
  return { used, replaced };
}
