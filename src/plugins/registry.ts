import { startTimeLimit, waitOrAbort } from '../base/abort.ts';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { notifyIfSlow } from './call-with-timeout.ts';
import {
  type AgentExtensionAutomationEventType,
  type PluginSetupContext,
  type BasicLogger,
  noopTelemetry,
} from './contract/plugin.ts';
import type { OnIssue, PluginIssue } from './plugin-issue.ts';
import type { PluginEntry } from './entry.ts';
import type { ActivePlugin, Contributions, LoadedPlugin } from './loaded-plugin.ts';
import { readManifest } from './manifest.ts';
import { runAsPlugin } from './plugin-ownership.ts';
import { formatToleratedViolation, setUpPlugin } from './set-up-plugin.ts';

export type PluginState =
  | 'ready'
  /** It works, but something failed. */
  | 'degraded'
  | 'failed'
  | 'disabled'
  /** Its files have not been reviewed, or have changed since. */
  | 'untrusted'
  | 'modified'
  /** It is made for other providers or models. */
  | 'skipped';

export interface PluginStatus {
  readonly name: string;
  readonly state: PluginState;
  /** Why it is not ready, or its last failure. */
  readonly lastError: string | null;
  readonly contributes: Readonly<Record<keyof Contributions, readonly string[]>> | null;
  /** Where it was found; absent for an object of the embedding program. */
  readonly entry?: PluginEntry;
}

/** Creates the automation port of a plugin; `declared` are the event types that it has declared so far. */
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

/** The result of importing plugins. */
export interface LoadedPlugins {
  /** Those that can be set up, in declared order. */
  readonly loaded: readonly LoadedPlugin[];
  /** Plugins that are not used, each with the reason. */
  readonly unused?: readonly PluginStatus[];
  /** Plugins that were imported and are made for another model. */
  readonly madeForOtherModels?: readonly unknown[];
  /** Releases what importing holds: processes, module instances, listeners. */
  readonly release?: () => Promise<void>;
}

/** The plugins that were loaded together, and what each contributed. */
export interface PluginRegistry {
  /** All that were imported, also those whose set-up failed. */
  readonly loaded: readonly LoadedPlugin[];
  /** Plugins that were imported and are made for another model, so they were not set up. */
  readonly madeForOtherModels: readonly unknown[];
  /** Those that were set up, in declared order; frozen. */
  readonly active: readonly ActivePlugin[];
  list(): readonly PluginStatus[];
  /** Calls what plugins registered with `onDispose`, once, and ends their processes. */
  dispose(): Promise<void>;
}

/**
 * Validates plugins and runs their set-up, one after the other. A plugin that fails is left out and
 * reported, and the others work; with `isStrict` it throws PLUGIN_INVALID instead.
 */
export async function createPluginRegistry(
  { loaded, unused = [], madeForOtherModels = [], release }: LoadedPlugins,
  options: RegistryOptions,
): Promise<PluginRegistry> {
  const active: ActivePlugin[] = [];
  const failed: PluginStatus[] = [];
  const disposals: Disposal[] = [];
  const dispose = async (): Promise<void> => {
    await disposeAll(disposals, options);
    await release?.();
  };
  try {
    for (const each of loaded) {
      const problem = checkPlugin(each, active, options);
      const status =
        problem === null && isValidated(each) ? await trySetUp(each, options, disposals) : problem;
      if (status !== null) failed.push(status);
      else if (isValidated(each)) active.push(each);
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return Object.freeze({
    loaded,
    madeForOtherModels,
    active: Object.freeze(active),
    list: () => [...active.map(describeStatus), ...failed, ...unused],
    dispose,
  });
}

/** Why a plugin is not set up; null when it is. */
function checkPlugin(
  loaded: LoadedPlugin,
  others: readonly ActivePlugin[],
  { isStrict, onIssue }: RegistryOptions,
): PluginStatus | null {
  const { name } = loaded;
  const { problem, violations } = readManifestSafely(loaded);
  const refuse = (message: string): PluginStatus => {
    if (isStrict) throw new HooklineError('PLUGIN_INVALID', { message, hint: LEFT_OUT });
    onIssue({ plugin: name, phase: 'validate', level: 'error', message });
    return toStatus(loaded, 'failed', message);
  };
  if (problem !== null) return refuse(`Invalid manifest for extension "${name}": ${problem}`);
  if (!isValidated(loaded)) return refuse(`the plugin "${name}" is not an object`);
  if (loaded.plugin.disabled === true) return toStatus(loaded, 'disabled', null);
  if (others.some((other) => other.name === name)) {
    const message = `another plugin of the name "${name}" comes first, so this one is not used`;
    onIssue({ plugin: name, phase: 'validate', level: 'warning', message });
    return toStatus(loaded, 'failed', message);
  }
  if (isStrict && violations.length > 0) {
    const message = `the plugin "${name}": ${violations.join('; ')}`;
    throw new HooklineError('PLUGIN_INVALID', { message, hint: TOLERATED });
  }
  for (const message of violations) {
    onIssue({ plugin: name, phase: 'validate', level: 'warning', message, violation: message });
  }
  return null;
}

const LEFT_OUT = 'Fix it or leave it out; without `strict` the session starts without it.';
const TOLERATED = 'Fix it; without `strict` the plugin is used, with a warning.';

/** Callers have read its manifest. */
function isValidated(loaded: LoadedPlugin): loaded is ActivePlugin {
  return isRecord(loaded.plugin) && isRecord(loaded.plugin['manifest']);
}

/** Getters of foreign objects may throw. */
function readManifestSafely({ plugin, name }: LoadedPlugin): ReturnType<typeof readManifest> {
  try {
    return readManifest(plugin, name);
  } catch (error) {
    return { name, problem: `it cannot be read: ${getErrorMessage(error)}`, violations: [] };
  }
}

function toStatus(
  { name, entry }: LoadedPlugin,
  state: PluginState,
  lastError: string | null,
): PluginStatus {
  return { name, state, lastError, contributes: null, ...(entry === null ? {} : { entry }) };
}

/** Why the set-up failed; null when it did not. */
async function trySetUp(
  active: ActivePlugin,
  options: RegistryOptions,
  disposals: Disposal[],
): Promise<PluginStatus | null> {
  const { name, file, contributions } = active;
  const { isStrict, onIssue, signal, setupTimeoutMs: timeoutMs } = options;
  const warn = (message: string, more: Partial<PluginIssue> = {}): void =>
    onIssue({ plugin: name, phase: 'setup', level: 'warning', message, ...more });
  const onViolation = (violation: string): void =>
    warn(formatToleratedViolation(violation), { violation });
  const { automationFor = () => options.context.automation } = options;
  const automation = automationFor(name, () => contributions.automationEventTypes);
  const logger = createScopedLogger(options.context, name);
  const context = buildContext({ ...options.context, automation, logger }, active, (dispose) =>
    disposals.push({ plugin: name, dispose: () => runAsPlugin(file, dispose) }),
  );
  const setting = 'config.pluginSetupTimeoutMs';
  const timeout = dropUndefined({ what: 'its setup', setting, timeoutMs, signal });
  try {
    const work = setUpPlugin(active, context, { isStrict, onViolation, timeout });
    await notifyIfSlow(work, () => warn('its setup takes long; the session waits for it'));
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (isStrict || options.failsClosed) throw toSetupError(name, error);
    const why = getErrorMessage(error);
    const isComplete = isHooklineError(error) && error.code !== 'PLUGIN_EXIT';
    const message = isComplete ? why : `its setup failed, so nothing of it is used: ${why}`;
    onIssue({ plugin: name, phase: 'setup', level: 'error', message });
    return toStatus(active, 'failed', message);
  }
  return null;
}

/** Errors of a plugin do not always name the plugin. */
function toSetupError(name: string, error: unknown): HooklineError {
  if (!isHooklineError(error)) {
    const message = `the setup of the plugin "${name}" failed: ${getErrorMessage(error)}`;
    const hint = 'Fix it or leave it out; otherwise the session starts without it.';
    return new HooklineError('PLUGIN_INVALID', { message, hint, cause: error });
  }
  if (error.message.includes(`"${name}"`)) return error;
  const message = `the plugin "${name}": ${error.message}`;
  return new HooklineError('PLUGIN_INVALID', {
    message,
    ...dropUndefined({ hint: error.hint }),
    cause: error,
  });
}

/**
 * Only plugins with the capability get the automation port. Those in this process always have telemetry, as
 * Cline documents; an isolated one has it when the program does.
 */
function buildContext(
  context: PluginSetupContext,
  { plugin: { manifest }, process }: ActivePlugin,
  onDispose: (dispose: () => unknown) => void,
): PluginSetupContext {
  const hasAutomation = manifest.capabilities.includes('automationEvents');
  return {
    ...context,
    automation: hasAutomation ? context.automation : undefined,
    telemetry: context.telemetry ?? (process === null ? noopTelemetry : undefined),
    onDispose,
  };
}

function describeStatus(active: ActivePlugin): PluginStatus {
  const { contributions } = active;
  const exit = active.readExit();
  const lastError = exit ?? active.lastError;
  const state = lastError === null ? 'ready' : 'degraded';
  return {
    ...toStatus(active, exit === null ? state : 'failed', lastError),
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

/** Plugins may be plain JavaScript, and Cline requires neither field. */
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
    ...dropUndefined({ sessionId: session?.sessionId }),
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
      const message = `its onDispose callback failed: ${why}`;
      onIssue({ plugin, phase: 'setup', level: 'warning', message });
    }
  }
  limit.clear();
}
