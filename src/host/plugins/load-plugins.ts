import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { sayingIfLong } from '../../plugins/call-with-timeout.ts';
import type { BasicLogger, PluginSetupContext } from '../../plugins/contract/plugin.ts';
import type { IsolatedLoading } from '../../plugins/isolation/isolate.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import type { Loading, ProvidedModules } from '../../plugins/load/loading.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import { readName } from '../../plugins/manifest.ts';
import type { PluginState, PluginStatus } from '../../plugins/registry.ts';
import { hookEnvironment, type HookState } from '../hook-set.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import {
  foundPlugins,
  type FoundPlugin,
  placeOf,
  sayUsedInstead,
  usedInstead,
} from './found-plugins.ts';
import { type PluginOptions, timeLimits } from './plugin-options.ts';
import { holdExit } from './process/block-exit.ts';
import { isRecord } from '../../base/json.ts';

/** Which model a session uses, for plugins that are made for some only. */
export interface ModelTarget {
  /** All names that the provider has, here and in Cline; its own first. */
  readonly providers: readonly string[];
  readonly model: string | null;
}

interface LoadPluginsRequest {
  readonly opened: OpenedHooks;
  readonly options: PluginOptions;
  readonly sessionId: string;
  /** Sets one loading of a session apart from the one before. */
  readonly round: number;
  readonly target: ModelTarget;
  /** What they will be set up with. */
  readonly context: PluginSetupContext;
  readonly signal?: AbortSignal;
  readonly onIssue: OnIssue;
}

/** A plugin that was imported, and where from. */
interface LoadedEntry {
  readonly entry: PluginEntry;
  readonly plugin: unknown;
  /** Ends the process that it lives in; absent for one that lives here. */
  readonly end?: () => Promise<void>;
}

export interface LoadedPlugins {
  readonly loaded: readonly LoadedEntry[];
  /** Those that are not used, and why. */
  readonly left: readonly PluginStatus[];
  /** Of those the ones that are made for another model. */
  readonly skipped: readonly unknown[];
}

/** Imports every plugin on disk that may be, each within a time of its own. One that fails costs itself only. */
export async function loadPlugins(request: LoadPluginsRequest): Promise<LoadedPlugins> {
  const found = foundPlugins(request.opened, request.options);
  const left: PluginStatus[] = [];
  const loaded: LoadedEntry[] = [];
  const skipped: unknown[] = [];
  const usable = found.filter((each) => {
    const status = whyLeftOut(each, request.onIssue);
    if (status !== null) left.push(status);
    return status === null;
  });
  const results = await Promise.all(usable.map(({ entry }) => loadAloud(entry, request)));
  for (const [place, { entry }] of usable.entries()) {
    const result = results[place];
    const outcome = outcomeOf(entry, result, request);
    if (outcome === null) continue;
    if ('state' in outcome) left.push(outcome);
    else loaded.push(outcome);
    const isSkipped = 'state' in outcome && outcome.state === 'skipped';
    if (isSkipped && result?.kind === 'loaded') skipped.push(result.plugin);
  }
  await refuseIfStrict(request, { loaded, left });
  const { onIssue } = request;
  return { loaded: withoutRepeats(loaded, { usable, left, onIssue }), left, skipped };
}

/** Throws PLUGIN_INVALID for one that cannot be loaded, where that is to be an error. */
async function refuseIfStrict(
  { options }: LoadPluginsRequest,
  { loaded, left }: Omit<LoadedPlugins, 'skipped'>,
): Promise<void> {
  const broken = left.find(({ state }) => state === 'failed');
  if (options.isStrict !== true || broken === undefined) return;
  await Promise.all(loaded.map(async (each) => each.end?.()));
  throw new HooklineError('PLUGIN_INVALID', {
    message: `the plugin "${broken.name}" is not loaded: ${broken.lastError ?? 'it failed'}`,
    hint: 'Mend it or leave it out; without `strict` the session starts without it.',
  });
}

/** Whoever is told nothing of a plugin takes it for one that works. */
function whyLeftOut({ entry, status }: FoundPlugin, onIssue: OnIssue): PluginStatus | null {
  const { state, why } = status;
  if (state === 'ready') return null;
  const left = leftOut(entry, STATE_OF[state], why === '' ? null : why);
  if (state === 'disabled') return left;
  const advice = state === 'broken' ? '' : '; look at it with `hookline trust`';
  const message = `it is not loaded: ${why}${advice}`;
  onIssue({ plugin: entry.label, phase: 'discover', level: 'error', message });
  return left;
}

const STATE_OF: Readonly<Record<Exclude<HookState, 'ready'>, PluginState>> = {
  untrusted: 'untrusted',
  modified: 'modified',
  disabled: 'disabled',
  broken: 'failed',
};

function leftOut(entry: PluginEntry, state: PluginState, lastError: string | null): PluginStatus {
  return { name: entry.label, state, lastError, contributes: null, entry };
}

function loadAloud(entry: PluginEntry, request: LoadPluginsRequest) {
  const message = 'importing it takes long; the session waits for it';
  return sayingIfLong(loadEntry(entry, request), () =>
    request.onIssue({ plugin: entry.label, phase: 'import', level: 'warning', message }),
  );
}

/** What is needed to import one plugin, in whatever process the person wants it. */
interface LoadEntryRequest extends Omit<LoadPluginsRequest, 'opened' | 'target'> {
  readonly opened: Pick<
    OpenedHooks,
    'config' | 'surroundings' | 'startDirectory' | 'stateDirectory'
  >;
}

export function loadEntry(
  entry: PluginEntry,
  request: LoadEntryRequest,
): Promise<Loading | IsolatedLoading> {
  const { options, opened } = request;
  const isolation = options.isolation ?? opened.config.settings['plugins.isolation'];
  return isolation === 'process' ? loadApart(entry, request) : loadHere(entry, request);
}

async function loadHere(entry: PluginEntry, request: LoadEntryRequest): Promise<Loading> {
  const { options, opened, sessionId, round, signal } = request;
  const provided = (await options.provided?.()) ?? NOTHING_PROVIDED;
  const { loadPlugin } = await import('../../plugins/load/load-plugin.ts');
  holdExit();
  return loadPlugin({
    entry,
    provided,
    cacheDirectory: cacheOf(opened),
    copy: copyOf(sessionId, round),
    timeoutMs: timeLimits(options).importTimeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** What the modules of one loading of a session are kept apart by. */
export function copyOf(sessionId: string, round: number): string {
  return `${sessionId}-${round}`;
}

async function loadApart(entry: PluginEntry, request: LoadEntryRequest): Promise<IsolatedLoading> {
  const { options, opened, context, sessionId, signal, onIssue } = request;
  const { openIsolated } = await import('../../plugins/isolation/isolate.ts');
  const { surroundings, config, startDirectory } = opened;
  return openIsolated({
    entry,
    cwd: startDirectory,
    environment: hookEnvironment({ surroundings, pass: config.settings['env.pass'], sessionId }),
    cacheDirectory: cacheOf(opened),
    ...timeLimits(options),
    isStrict: options.isStrict === true,
    workspaceInfo: context.workspaceInfo,
    signal,
    logger: printerOf(options) ?? context.logger,
    onIssue,
  });
}

/** What a plugin prints is told as if it had been printed here, where somebody is told. */
function printerOf({ onConsole }: PluginOptions): BasicLogger | undefined {
  if (onConsole === undefined) return undefined;
  return { debug: () => undefined, log: onConsole, error: onConsole };
}

function cacheOf({ stateDirectory }: Pick<OpenedHooks, 'stateDirectory'>): string | null {
  return stateDirectory === null ? null : pluginCache(stateDirectory);
}

/** Where translated modules are kept. */
export function pluginCache(stateDirectory: string): string {
  return path.join(stateDirectory, 'cache', 'plugins');
}

const NOTHING_PROVIDED: ProvidedModules = () => null;

/** Null for a module that only others import. */
function outcomeOf(
  entry: PluginEntry,
  result: Loading | IsolatedLoading | undefined,
  { target, onIssue }: LoadPluginsRequest,
): LoadedEntry | PluginStatus | null {
  if (result === undefined || result.kind === 'helper') return null;
  if (result.kind === 'failed') {
    const message = `it is not loaded: ${result.message}`;
    onIssue({ plugin: entry.label, phase: 'import', level: 'error', message });
    return leftOut(entry, 'failed', result.message);
  }
  const why = whyNotMeant(result.plugin, target);
  const apart = 'end' in result ? { end: result.end } : {};
  if (why === null) return { entry, plugin: result.plugin, ...apart };
  void apart.end?.();
  return leftOut(entry, 'skipped', why);
}

/** A plugin may be made for some providers or models only. */
export function whyNotMeant(
  plugin: unknown,
  { providers: own, model }: ModelTarget,
): string | null {
  const providers = targetsOf(plugin, 'providerIds');
  if (providers.length > 0 && !providers.some((each) => own.includes(each))) {
    return `it is made for ${providers.join(', ')}, and this session uses ${own[0]}`;
  }
  const models = targetsOf(plugin, 'modelIds');
  if (models.length === 0 || (model !== null && models.includes(model))) return null;
  return `it is made for ${models.join(', ')}, and this session uses ${model ?? 'another model'}`;
}

interface Dropping {
  readonly usable: readonly FoundPlugin[];
  readonly left: PluginStatus[];
  readonly onIssue: OnIssue;
}

/** Of one name one is used. */
function withoutRepeats(
  loaded: readonly LoadedEntry[],
  { usable, left, onIssue }: Dropping,
): readonly LoadedEntry[] {
  const called = usable.flatMap(({ entry, hook }) => {
    const own = loaded.find((each) => each.entry === entry);
    return own === undefined ? [] : [{ entry, name: calledName(own), from: placeOf(hook, entry) }];
  });
  return loaded.filter((each, place) => {
    const winner = usedInstead(called, place);
    if (winner === undefined) return true;
    const name = calledName(each);
    const message = sayUsedInstead(winner);
    onIssue({ plugin: name, phase: 'validate', level: 'warning', message });
    left.push({ ...leftOut(each.entry, 'failed', message), name });
    void each.end?.();
    return false;
  });
}

/** As it calls itself, or as people call it before it can. */
export function calledName({ entry, plugin }: LoadedEntry): string {
  return readName(plugin) ?? entry.label;
}

/** The providers or models that it says it is made for; none means all. */
function targetsOf(plugin: unknown, key: 'providerIds' | 'modelIds'): readonly string[] {
  const given = quietly(() => {
    const manifest = isRecord(plugin) ? plugin['manifest'] : null;
    return isRecord(manifest) ? manifest[key] : null;
  });
  if (!Array.isArray(given)) return [];
  const texts = given.filter((each) => typeof each === 'string');
  return texts.map((each) => each.trim()).filter((each) => each !== '');
}

/** Getters of foreign objects may throw, of which the registry tells. */
function quietly(look: () => unknown): unknown {
  try {
    return look();
  } catch {
    return null;
  }
}
