import { HooklineError } from '../base/errors.ts';
import { isRecord, getTypeName } from '../base/json.ts';
import { type CallTimeout, callWithTimeout } from './call-with-timeout.ts';
import { toJsonSchema } from './contract/input-schema.ts';
import type {
  AgentExtensionApi,
  AgentExtensionAutomationEventType,
  AgentExtensionCapability,
  PluginSetupContext,
} from './contract/plugin.ts';
import type { ActivePlugin } from './loaded-plugin.ts';
import { runAsPlugin } from './plugin-ownership.ts';

/** How the set-up of one plugin differs between the places that run it. */
export interface SetUpOptions {
  /** Refuses every registration without its capability; otherwise Cline's rules apply, with a warning. */
  readonly isStrict: boolean;
  /** Called with the rule of its manifest that a registration breaks. */
  readonly onViolation: (rule: string) => void;
  /** Called as soon as the plugin has declared a type of events. */
  readonly onEventType?: (type: AgentExtensionAutomationEventType) => void;
  /** The time limit; without it, there is none. */
  readonly timeout?: CallTimeout;
}

/**
 * Runs `setup` of a plugin, for the registry of a session, the process of an isolated plugin, and the
 * `ContributionRegistry` of `@cline/shared`. Registrations are stored in the plugin's
 * `contributions`; nothing can be registered afterwards. Throws what `setup` throws.
 */
export async function setUpPlugin(
  active: ActivePlugin,
  context: PluginSetupContext,
  options: SetUpOptions,
): Promise<void> {
  let isOpen = true;
  const api = createApi(active, options, () => isOpen);
  const work = (): unknown => runAsPlugin(active.file, () => active.plugin.setup?.(api, context));
  try {
    await (options.timeout === undefined ? work() : callWithTimeout(work, options.timeout));
  } finally {
    isOpen = false;
  }
}

/** Cline itself refuses these without the capability. */
const ALWAYS_NEEDED: readonly AgentExtensionCapability[] = ['rules', 'automationEvents', 'mcp'];

/** Creates the `api` argument of `setup`; each method needs its capability. */
function createApi(
  { name, plugin, contributions }: ActivePlugin,
  { isStrict, onViolation, onEventType }: SetUpOptions,
  isOpen: () => boolean,
): AgentExtensionApi {
  const requireCapability = (method: string, capability: AgentExtensionCapability): void => {
    if (!isOpen()) throw createLateError(name, method);
    if (plugin.manifest.capabilities.includes(capability)) return;
    const problem = `${method} requires the "${capability}" capability`;
    if (isStrict || ALWAYS_NEEDED.includes(capability)) {
      throw createCapabilityError(name, problem, capability);
    }
    onViolation(`${problem}, which its manifest does not declare`);
  };
  const check = (method: string, contribution: unknown, keys: readonly string[]): void =>
    checkShape(`${method} of the plugin "${name}"`, contribution, keys);
  const api: AgentExtensionApi = {
    registerTool(tool) {
      requireCapability('registerTool', 'tools');
      check('registerTool', tool, ['name', 'execute()']);
      toJsonSchema(tool.inputSchema ?? {}, tool.name);
      contributions.tools.push(tool);
    },
    registerCommand(command) {
      requireCapability('registerCommand', 'commands');
      check('registerCommand', command, ['name']);
      contributions.commands.push(command);
    },
    registerRule(rule) {
      requireCapability('registerRule', 'rules');
      check('registerRule', rule, []);
      contributions.rules.push(rule);
    },
    registerMessageBuilder(builder) {
      requireCapability('registerMessageBuilder', 'messageBuilders');
      check('registerMessageBuilder', builder, ['build()']);
      contributions.messageBuilders.push(builder);
    },
    registerProvider(provider) {
      requireCapability('registerProvider', 'providers');
      check('registerProvider', provider, ['name']);
      contributions.providers.push(provider);
    },
    registerAutomationEventType(type) {
      requireCapability('registerAutomationEventType', 'automationEvents');
      check('registerAutomationEventType', type, ['eventType', 'source']);
      const trimmed = trimEventType(type);
      contributions.automationEventTypes.push(trimmed);
      onEventType?.(trimmed);
    },
    registerMcpServer(server) {
      requireCapability('registerMcpServer', 'mcp');
      check('registerMcpServer', server, ['name']);
      const metadata = { ...server.metadata, source: 'plugin', plugin: name };
      contributions.mcpServers.push({ ...server, metadata });
    },
  };
  return Object.freeze(api);
}

/** Words a broken rule for a host that goes on in spite of it. */
export function formatToleratedViolation(rule: string): string {
  return `${rule}; it is registered anyway`;
}

function createCapabilityError(name: string, problem: string, capability: string): HooklineError {
  return new HooklineError('PLUGIN_INVALID', {
    message: `Invalid setup for extension "${name}": ${problem}`,
    hint: `Add "${capability}" to manifest.capabilities.`,
  });
}

function createLateError(name: string, method: string): HooklineError {
  return new HooklineError('PLUGIN_LATE', {
    message: `the plugin "${name}" called ${method} after its setup had ended`,
    hint: 'Everything is registered in setup; what a session has does not change later.',
  });
}

/** A key that ends in `()` must be a function, any other a non-empty text. */
function checkShape(place: string, contribution: unknown, keys: readonly string[]): void {
  if (!isRecord(contribution)) {
    throw new HooklineError('PLUGIN_INVALID', {
      message: `${place} expects an object, found ${getTypeName(contribution)}`,
    });
  }
  for (const key of keys) {
    const isFunction = key.endsWith('()');
    const field = key.replace('()', '');
    const value = contribution[field];
    const isFine = isFunction
      ? typeof value === 'function'
      : typeof value === 'string' && value.trim() !== '';
    if (isFine) continue;
    throw new HooklineError('PLUGIN_INVALID', {
      message: `${place} expects "${field}" to be ${isFunction ? 'a function' : 'a text'}, found ${value === undefined ? 'nothing' : getTypeName(value)}`,
    });
  }
}

function trimEventType(type: AgentExtensionAutomationEventType): AgentExtensionAutomationEventType {
  const { eventType, source, examples, metadata } = type;
  return {
    ...type,
    eventType: eventType.trim(),
    source: source.trim(),
    ...(examples === undefined ? {} : { examples: [...examples] }),
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
  };
}
