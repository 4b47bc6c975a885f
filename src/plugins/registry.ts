import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { type Contributions, createApi } from './api.ts';
import { callWithTimeout, notifyIfSlow } from './call-with-timeout.ts';
import { createHealth, type Health } from './health.ts';
import type { PluginEntry } from './entry.ts';
import type { OnIssue } from './diagnostic.ts';
import { formatNumberedName, readManifest, readName } from './manifest.ts';
import { runAsPlugin } from './plugin-ownership.ts';
import type {
  AgentExtensionAutomationEventType,
  AgentPlugin,
  PluginSetupContext,
  BasicLogger,
} from './contract/plugin.ts';
import { startTimeLimit, waitOrAbort } from '../base/abort.ts';

export type PluginState =
  | 'ready'
  /** It works, and something went wrong with it. */
  | 'degraded'
  | 'failed'
  | 'disabled'
  /** Nobody has looked at its files, or they have changed since. */
  | 'untrusted'
  | 'modified'
  /** It is made for other providers or models. */
  | 'skipped';

/** A plugin that was imported, or an object that the embedding program passed. */
export interface LoadedPlugin {
  readonly plugin: unknown;
  /** Where it was imported from; null for an object of the embedding program. */
  readonly entry: PluginEntry | null;
  /** How long the import took; absent for an object. */
  readonly importMs?: number;
  /** Only for a plugin in a process of its own. */
  readonly process?: PluginProcessPort;
}

/** The process of one plugin. */
export interface PluginProcessPort {
  /** Why the process has exited although nobody ended it; null while it runs. */
  readonly readExit: () => string | null;
  /** Ends the process. Never rejects. */
  readonly end: () => Promise<void>;
}

/** A plugin whose set-up succeeded. */
export interface ActivePlugin {
  readonly name: string;
  readonly plugin: AgentPlugin;
  readonly entry: PluginEntry | null;
  /** Null for a plugin in this process, which cannot exit by itself. */
  readonly readExit: (() => string | null) | null;
  readonly contributions: Contributions;
  readonly health: Health;
}

/** Whether the process of a plugin has exited, so that nothing of the plugin works any more. */
export function hasExited({ readExit }: Pick<ActivePlugin, 'readExit'>): boolean {
  return readExit !== null && readExit() !== null;
}

export interface PluginStatus {
  readonly name: string;
  readonly state: PluginState;
  /** Why it is not ready, or what goes wrong with it. */
  readonly lastError: string | null;
  readonly contributes: Readonly<Record<keyof Contributions, readonly string[]>> | null;
  /** Where it lies; absent for an object that the program itself gave. */
  readonly entry?: PluginEntry;
}

/** The plugins that were loaded together, and what each contributed. */
export interface PluginRegistry {
  /** All that were imported, also those whose set-up failed. */
  readonly loaded: readonly LoadedPlugin[];
  /** Plugins that were imported and are made for another model, so they were not set up. */
  readonly skipped: readonly unknown[];
  /** Those that were set up, in declared order; frozen. */
  readonly active: readonly ActivePlugin[];
  list(): readonly PluginStatus[];
  /** Calls what plugins registered with `onDispose`, once, and ends their processes. */
  dispose(): Promise<void>;
}

/** What a plugin sends events through; `declared` are the types that it has declared so far. */
export type AutomationFor = (
  plugin: string,
  declared: () => readonly AgentExtensionAutomationEventType[],
) => NonNullable<PluginSetupContext['automation']>;

export interface RegistryOptions {
  readonly context: PluginSetupContext;
  /** Replaces the automation of the context, for each plugin that has the capability. */
  readonly automationFor?: AutomationFor;
  /** A plugin that does not keep to its manifest throws PLUGIN_INVALID. */
  readonly isStrict: boolean;
  /** A set-up that fails, throws. */
  readonly failsClosed: boolean;
  /** The limit for the set-up of one plugin. */
  readonly setupTimeoutMs: number;
  /** The limit for all `onDispose` callbacks together. */
  readonly disposeTimeoutMs: number;
  /** Aborts the set-up. */
  readonly signal?: AbortSignal;
  readonly onIssue: OnIssue;
}

/** What importing came to, beside the plugins that can be set up. */
export interface NotLoaded {
  /** Plugins that are not used, each with the reason. */
  readonly left: readonly PluginStatus[];
  readonly skipped: readonly unknown[];
  /** Releases what importing holds: processes, module instances, listeners. */
  readonly release: () => Promise<void>;
}

const NOTHING_ELSE: NotLoaded = { left: [], skipped: [], release: async () => undefined };

/**
 * Validates plugins and runs their set-up, one after the other. A plugin that fails is left out and
 * reported, and the others work; with `isStrict` it throws PLUGIN_INVALID instead.
 */
export async function createPluginRegistry(
  loaded: readonly LoadedPlugin[],
  options: RegistryOptions,
  { left, skipped, release }: NotLoaded = NOTHING_ELSE,
): Promise<PluginRegistry> {
  const disposals: Disposal[] = [];
  const dispose = async (): Promise<void> => {
    await disposeAll(disposals, options);
    await release();
  };
  try {
    const { active, failed } = await setUpAll(loaded, options, disposals);
    return Object.freeze({
      loaded,
      skipped,
      active: Object.freeze(active),
      list: () => [...active.map(describeStatus), ...failed, ...left],
      dispose,
    });
  } catch (error) {
    await dispose();
    throw error;
  }
}

interface SetUp {
  readonly active: ActivePlugin[];
  readonly failed: readonly PluginStatus[];
}

async function setUpAll(
  loaded: readonly LoadedPlugin[],
  options: RegistryOptions,
  disposals: Disposal[],
): Promise<SetUp> {
  const failed: PluginStatus[] = [];
  const active: ActivePlugin[] = [];
  for (const [place, each] of loaded.entries()) {
    const { entry } = each;
    const leaveOut = ({ status }: LeftOut): void =>
      void failed.push(entry === null ? status : { ...status, entry });
    const label = entry?.label ?? formatNumberedName(place);
    const resolved = resolvePlugin(each.plugin, { label, others: active }, options);
    if ('status' in resolved) leaveOut(resolved);
    else {
      const made = await setUp({ ...resolved, loaded: each }, options, disposals);
      if ('status' in made) leaveOut(made);
      else active.push(made);
    }
  }
  return { active, failed };
}

interface Resolved {
  readonly name: string;
  readonly plugin: AgentPlugin;
}

interface LeftOut {
  readonly status: PluginStatus;
}

function resolvePlugin(
  given: unknown,
  { label, others }: { readonly label: string; readonly others: readonly ActivePlugin[] },
  { isStrict, onIssue }: RegistryOptions,
): Resolved | LeftOut {
  const { name, problem, warnings } = readManifestSafely(given, label);
  const refuse = (message: string): LeftOut => {
    if (isStrict) {
      const hint = 'Mend it or leave it out; without `strict` the session starts without it.';
      throw new HooklineError('PLUGIN_INVALID', { message, hint });
    }
    onIssue({ plugin: name, phase: 'validate', level: 'error', message });
    return { status: toStatus(name, 'failed', message) };
  };
  if (problem !== null) return refuse(`Invalid manifest for extension "${name}": ${problem}`);
  if (!isPlugin(given)) return refuse(`the plugin "${name}" is no object`);
  if (given.disabled === true) return { status: toStatus(name, 'disabled', null) };
  if (others.some((other) => other.name === name)) {
    const message = `another plugin of the name "${name}" comes first, so this one is not used`;
    onIssue({ plugin: name, phase: 'validate', level: 'warning', message });
    return { status: toStatus(name, 'failed', message) };
  }
  for (const message of warnings) {
    if (isStrict) return refuse(`the plugin "${name}": ${message}`);
    onIssue({ plugin: name, phase: 'validate', level: 'warning', message });
  }
  return { name, plugin: given };
}

/** Callers have read its manifest. */
function isPlugin(given: unknown): given is AgentPlugin {
  return isRecord(given) && isRecord(given['manifest']);
}

/** Getters of foreign objects may throw. */
function readManifestSafely(given: unknown, label: string): ReturnType<typeof readManifest> {
  try {
    return readManifest(given, label);
  } catch (error) {
    const name = readName(given) ?? label;
    return { name, problem: `it cannot be looked at: ${getErrorMessage(error)}`, warnings: [] };
  }
}

function toStatus(name: string, state: PluginState, lastError: string | null): PluginStatus {
  return { name, state, lastError, contributes: null };
}

async function setUp(
  { name, plugin, loaded }: Resolved & { readonly loaded: LoadedPlugin },
  options: RegistryOptions,
  disposals: Disposal[],
): Promise<ActivePlugin | LeftOut> {
  const { isStrict, onIssue, signal } = options;
  const { entry } = loaded;
  const file = entry?.file ?? null;
  const warn = (message: string): void =>
    onIssue({ plugin: name, phase: 'setup', level: 'warning', message });
  const { api, contributions, close } = createApi({ name, plugin, isStrict, onWarning: warn });
  const { automationFor = () => options.context.automation } = options;
  const automation = automationFor(name, () => contributions.automationEventTypes);
  const logger = createScopedLogger(options.context, name);
  const context = buildContext({ ...options.context, automation, logger }, plugin, (dispose) =>
    disposals.push({ plugin: name, dispose: () => runAsPlugin(file, dispose) }),
  );
  try {
    const work = callWithTimeout(() => runAsPlugin(file, () => plugin.setup?.(api, context)), {
      what: 'its setup',
      setting: 'config.pluginSetupTimeoutMs',
      timeoutMs: options.setupTimeoutMs,
      ...(signal === undefined ? {} : { signal }),
    });
    await notifyIfSlow(work, () => warn('its setup takes long; the session waits for it'));
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (isStrict || options.failsClosed) throw toSetupError(name, error);
    const why = getErrorMessage(error);
    const isComplete = isHooklineError(error) && error.code !== 'PLUGIN_EXIT';
    const message = isComplete ? why : `its setup failed, so nothing of it is used: ${why}`;
    onIssue({ plugin: name, phase: 'setup', level: 'error', message });
    return { status: toStatus(name, 'failed', message) };
  } finally {
    close();
  }
  const readExit = loaded.process?.readExit ?? null;
  const health = createHealth(name, onIssue);
  return { name, plugin, entry, readExit, contributions, health };
}

/** Errors of a plugin do not always name the plugin. */
function toSetupError(name: string, error: unknown): HooklineError {
  if (!isHooklineError(error)) {
    const message = `the setup of the plugin "${name}" failed: ${getErrorMessage(error)}`;
    const hint = 'Mend it or leave it out; otherwise the session starts without it.';
    return new HooklineError('PLUGIN_INVALID', { message, hint, cause: error });
  }
  if (error.message.includes(`"${name}"`)) return error;
  const message = `the plugin "${name}": ${error.message}`;
  return new HooklineError('PLUGIN_INVALID', {
    message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    cause: error,
  });
}

/** Only plugins with the capability get the automation port. */
function buildContext(
  context: PluginSetupContext,
  { manifest }: AgentPlugin,
  onDispose: (dispose: () => unknown) => void,
): PluginSetupContext {
  const { automation, ...rest } = context;
  const hasAutomation =
    manifest.capabilities.includes('automationEvents') && automation !== undefined;
  return { ...rest, automation: hasAutomation ? automation : undefined, onDispose };
}

function describeStatus(active: ActivePlugin): PluginStatus {
  const { name, entry, contributions, health } = active;
  const exit = active.readExit?.() ?? null;
  const lastError = exit ?? health.lastError();
  const state = lastError === null ? 'ready' : 'degraded';
  return {
    name,
    state: exit === null ? state : 'failed',
    lastError,
    ...(entry === null ? {} : { entry }),
    contributes: {
      tools: contributions.tools.map((tool) => tool.name),
      commands: contributions.commands.map((command) => command.name),
      rules: contributions.rules.map((rule) => toTextOr(rule.id, 'without an id')),
      messageBuilders: contributions.messageBuilders.map((builder) =>
        toTextOr(builder.name, 'without a name'),
      ),
      providers: contributions.providers.map((provider) => provider.name),
      automationEventTypes: contributions.automationEventTypes.map((type) => type.eventType),
      mcpServers: contributions.mcpServers.map((server) => server.name),
    },
  };
}

/** Plugins may be plain JavaScript, and Cline asks for neither. */
function toTextOr(name: unknown, otherwise: string): string {
  return typeof name === 'string' && name.trim() !== '' ? name : otherwise;
}

/** The host's logger, with the plugin's name in the metadata of each record. */
function createScopedLogger(
  { logger, session }: Pick<PluginSetupContext, 'logger' | 'session'>,
  pluginName: string,
): BasicLogger | undefined {
  if (logger === undefined) return undefined;
  const withNames = (metadata: unknown): Record<string, unknown> => ({
    ...(session?.sessionId === undefined ? {} : { sessionId: session.sessionId }),
    ...(isRecord(metadata) ? metadata : {}),
    pluginName,
  });
  return {
    debug: (message, metadata) => logger.debug(message, withNames(metadata)),
    log: (message, metadata) => logger.log(message, withNames(metadata)),
    error: (message, metadata) =>
      logger.error === undefined
        ? logger.log(message, withNames(metadata))
        : logger.error(message, withNames(metadata)),
  };
}

/** A callback that a plugin registered with `onDispose`. */
interface Disposal {
  readonly plugin: string;
  readonly dispose: () => unknown;
}

/** Calls them in reverse order, one after the other, within one time limit. */
async function disposeAll(
  disposals: Disposal[],
  { onIssue, disposeTimeoutMs }: Pick<RegistryOptions, 'onIssue' | 'disposeTimeoutMs'>,
): Promise<void> {
  const limit = startTimeLimit(new AbortController().signal, disposeTimeoutMs);
  for (const { plugin, dispose } of disposals.splice(0).toReversed()) {
    try {
      const work = async (): Promise<unknown> => dispose();
      await waitOrAbort(work(), limit.signal);
    } catch (error) {
      const why = limit.hasExpired()
        ? `it took longer than ${disposeTimeoutMs} ms`
        : getErrorMessage(error);
      const message = `what it wanted done at the end failed: ${why}`;
      onIssue({ plugin, phase: 'setup', level: 'warning', message });
    }
  }
  limit.clear();
}
