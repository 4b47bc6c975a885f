import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { type Contributions, createApi } from './api.ts';
import { sayingIfLong, withinBounds } from './bounded.ts';
import { type Disposal, disposeAll } from './disposals.ts';
import { endingOf } from './ending.ts';
import { createHealth, type Health } from './health.ts';
import type { PluginEntry } from './entry.ts';
import type { OnIssue } from './issue.ts';
import { numbered, readManifest, readName } from './manifest.ts';
import { scopedLogger } from './contract/scoped-logger.ts';
import { asItsOwn, claimLike } from './whose-work.ts';
import type {
  AgentExtensionAutomationEventType,
  AgentPlugin,
  PluginSetupContext,
} from './contract/plugin.ts';

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

/** A plugin that is part of a session. */
export interface ActivePlugin {
  readonly name: string;
  readonly plugin: AgentPlugin;
  readonly contributions: Contributions;
  readonly health: Health;
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

export interface PluginRegistry {
  /** In the order in which they were given; frozen. */
  readonly active: readonly ActivePlugin[];
  list(): readonly PluginStatus[];
  /** Calls what plugins want to be called at the end, once. */
  dispose(): Promise<void>;
}

/** What a plugin sends events through; `declared` are the types that it has declared so far. */
export type AutomationFor = (
  plugin: string,
  declared: () => readonly AgentExtensionAutomationEventType[],
) => NonNullable<PluginSetupContext['automation']>;

export interface RegistryRequest {
  /** From wherever they come: objects, files, packages. */
  readonly plugins: readonly unknown[];
  /** What people call each of them, for one that cannot say it itself. */
  readonly labels?: readonly (string | null)[];
  readonly context: PluginSetupContext;
  /** Instead of the context's own, for each plugin that has the capability. */
  readonly automationFor?: AutomationFor;
  readonly isStrict: boolean;
  /** A setup that fails, fails the session. */
  readonly failsClosed: boolean;
  /** How long one setup may take. */
  readonly setupTimeoutMs: number;
  /** How long all that plugins want done at the end may take. */
  readonly disposeTimeoutMs: number;
  /** Gives up the opening. */
  readonly signal?: AbortSignal;
  readonly onIssue: OnIssue;
}

/**
 * Resolve, validate, set up, activate. A plugin that is no use is left out and told of, and the
 * others work; with `isStrict` it throws PLUGIN_INVALID instead.
 */
export async function openRegistry(request: RegistryRequest): Promise<PluginRegistry> {
  const disposals: Disposal[] = [];
  const dispose = (): Promise<void> => disposeAll(disposals, request);
  try {
    const { active, left } = await setUpAll(request, disposals);
    return Object.freeze({
      active: Object.freeze(active),
      list: () => [...active.map(statusOf), ...left],
      dispose,
    });
  } catch (error) {
    await dispose();
    throw error;
  }
}

interface SetUp {
  readonly active: ActivePlugin[];
  readonly left: readonly PluginStatus[];
}

async function setUpAll(request: RegistryRequest, disposals: Disposal[]): Promise<SetUp> {
  const left: PluginStatus[] = [];
  const active: ActivePlugin[] = [];
  for (const [place, given] of request.plugins.entries()) {
    const resolved = resolve(request, { given, place, others: active });
    if ('status' in resolved) left.push(resolved.status);
    else {
      const made = await setUp(request, resolved, disposals);
      if ('status' in made) left.push(made.status);
      else active.push(made);
    }
  }
  return { active, left };
}

interface Given {
  readonly given: unknown;
  readonly place: number;
  readonly others: readonly ActivePlugin[];
}

interface Resolved {
  readonly name: string;
  readonly plugin: AgentPlugin;
}

interface LeftOut {
  readonly status: PluginStatus;
}

function resolve(request: RegistryRequest, { given, place, others }: Given): Resolved | LeftOut {
  const { name, problem, warnings } = lookAt(given, labelOf(request, place));
  if (problem !== null) {
    return refuse(request, name, `Invalid manifest for extension "${name}": ${problem}`);
  }
  if (!isPlugin(given)) return refuse(request, name, `the plugin "${name}" is no object`);
  const plugin = given;
  if (plugin.disabled === true) return { status: leftOut(name, 'disabled', null) };
  if (others.some((other) => other.name === name)) {
    const message = `another plugin of the name "${name}" comes first, so this one is not used`;
    request.onIssue({ plugin: name, phase: 'validate', level: 'warning', message });
    return { status: leftOut(name, 'failed', message) };
  }
  for (const message of warnings) {
    if (request.isStrict) return refuse(request, name, `the plugin "${name}": ${message}`);
    request.onIssue({ plugin: name, phase: 'validate', level: 'warning', message });
  }
  return { name, plugin };
}

/** Whoever asks has read its manifest. */
function isPlugin(given: unknown): given is AgentPlugin {
  return isRecord(given) && isRecord(given['manifest']);
}

function labelOf({ labels = [] }: RegistryRequest, place: number): string {
  return labels[place] ?? numbered(place);
}

/** Getters of foreign objects may throw. */
function lookAt(given: unknown, label: string): ReturnType<typeof readManifest> {
  try {
    return readManifest(given, label);
  } catch (error) {
    const name = readName(given) ?? label;
    return { name, problem: `it cannot be looked at: ${getErrorMessage(error)}`, warnings: [] };
  }
}

function refuse({ isStrict, onIssue }: RegistryRequest, plugin: string, message: string): LeftOut {
  if (isStrict) {
    const hint = 'Mend it or leave it out; without `strict` the session starts without it.';
    throw new HooklineError('PLUGIN_INVALID', { message, hint });
  }
  onIssue({ plugin, phase: 'validate', level: 'error', message });
  return { status: leftOut(plugin, 'failed', message) };
}

function leftOut(name: string, state: PluginState, lastError: string | null): PluginStatus {
  return { name, state, lastError, contributes: null };
}

async function setUp(
  request: RegistryRequest,
  { name, plugin }: Resolved,
  disposals: Disposal[],
): Promise<ActivePlugin | LeftOut> {
  const { isStrict, onIssue } = request;
  const tell = (message: string): void =>
    onIssue({ plugin: name, phase: 'setup', level: 'warning', message });
  const { api, contributions, close } = createApi({ name, plugin, isStrict, onWarning: tell });
  const { automationFor = () => request.context.automation } = request;
  const automation = automationFor(name, () => contributions.automationEventTypes);
  const logger = scopedLogger(request.context, name);
  const context = contextFor({ ...request.context, automation, logger }, plugin, (dispose) =>
    disposals.push({ plugin: name, dispose: () => asItsOwn(plugin, dispose) }),
  );
  try {
    const work = withinBounds(() => asItsOwn(plugin, () => plugin.setup?.(api, context)), {
      what: 'its setup',
      setting: 'config.pluginSetupTimeoutMs',
      timeoutMs: request.setupTimeoutMs,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    await sayingIfLong(work, () => tell('its setup takes long; the session waits for it'));
  } catch (error) {
    if (request.signal?.aborted === true) throw error;
    if (isStrict || request.failsClosed) throw failedSetup(name, error);
    const why = getErrorMessage(error);
    const isSaid = isHooklineError(error) && error.code !== 'PLUGIN_EXIT';
    const message = isSaid ? why : `its setup failed, so nothing of it is used: ${why}`;
    onIssue({ plugin: name, phase: 'setup', level: 'error', message });
    return { status: leftOut(name, 'failed', message) };
  } finally {
    close();
  }
  const { tools, rules, commands, messageBuilders } = contributions;
  claimLike(plugin, [...tools, ...rules, ...commands, ...messageBuilders]);
  const health = createHealth(name, onIssue);
  return { name, plugin, contributions, health };
}

/** What a plugin throws need not say whose it is. */
function failedSetup(name: string, error: unknown): HooklineError {
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

/** Of automation only those know who asked for it. */
function contextFor(
  context: PluginSetupContext,
  { manifest }: AgentPlugin,
  onDispose: (dispose: () => unknown) => void,
): PluginSetupContext {
  const { automation, ...rest } = context;
  const knows = manifest.capabilities.includes('automationEvents') && automation !== undefined;
  return { ...rest, automation: knows ? automation : undefined, onDispose };
}

function statusOf({ name, plugin, contributions, health }: ActivePlugin): PluginStatus {
  const ending = endingOf(plugin);
  const lastError = ending ?? health.lastError();
  const state = lastError === null ? 'ready' : 'degraded';
  return {
    name,
    state: ending === null ? state : 'failed',
    lastError,
    contributes: {
      tools: contributions.tools.map((tool) => tool.name),
      commands: contributions.commands.map((command) => command.name),
      rules: contributions.rules.map((rule) => textOr(rule.id, 'without an id')),
      messageBuilders: contributions.messageBuilders.map((builder) =>
        textOr(builder.name, 'without a name'),
      ),
      providers: contributions.providers.map((provider) => provider.name),
      automationEventTypes: contributions.automationEventTypes.map((type) => type.eventType),
      mcpServers: contributions.mcpServers.map((server) => server.name),
    },
  };
}

/** Plugins may be plain JavaScript, and Cline asks for neither. */
function textOr(name: unknown, otherwise: string): string {
  return typeof name === 'string' && name.trim() !== '' ? name : otherwise;
}
