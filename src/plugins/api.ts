import { HooklineError } from '../base/errors.ts';
import { isRecord, getTypeName } from '../base/json.ts';
import { toJsonSchema } from './contract/input-schema.ts';
import type {
  AgentExtensionApi,
  AgentExtensionAutomationEventType,
  AgentExtensionCapability,
  AgentExtensionCommand,
  AgentExtensionMcpServer,
  AgentExtensionMessageBuilder,
  AgentExtensionProvider,
  AgentExtensionRule,
  AgentPlugin,
} from './contract/plugin.ts';
import type { AgentTool } from './contract/tool.ts';

/** What one plugin registered, in its order. */
export interface Contributions {
  readonly tools: AgentTool[];
  readonly commands: AgentExtensionCommand[];
  readonly rules: AgentExtensionRule[];
  readonly messageBuilders: AgentExtensionMessageBuilder[];
  readonly providers: AgentExtensionProvider[];
  readonly automationEventTypes: AgentExtensionAutomationEventType[];
  readonly mcpServers: AgentExtensionMcpServer[];
}

function noContributions(): Contributions {
  return {
    tools: [],
    commands: [],
    rules: [],
    messageBuilders: [],
    providers: [],
    automationEventTypes: [],
    mcpServers: [],
  };
}

export interface ApiRequest {
  readonly name: string;
  readonly plugin: AgentPlugin;
  /** Refuses whatever has no capability; otherwise Cline's rules hold, and a warning says so. */
  readonly isStrict: boolean;
  readonly onWarning: (text: string) => void;
}

export interface SetupApi {
  readonly api: AgentExtensionApi;
  readonly contributions: Contributions;
  /** From now on nothing can be registered any more. */
  readonly close: () => void;
}

/** Cline itself refuses these. */
const ALWAYS_NEEDED: readonly AgentExtensionCapability[] = ['rules', 'automationEvents', 'mcp'];

/** What `setup` of one plugin is given; each method needs its capability. */
export function createApi(request: ApiRequest): SetupApi {
  const contributions = noContributions();
  let isOpen = true;
  const admit = (method: string, capability: AgentExtensionCapability): void => {
    if (!isOpen) throw tooLate(request.name, method);
    checkCapability(request, method, capability);
  };
  const check = (method: string, given: unknown, keys: readonly string[]): void =>
    checkShape(`${method} of the plugin "${request.name}"`, given, keys);
  const api: AgentExtensionApi = {
    registerTool(tool) {
      admit('registerTool', 'tools');
      check('registerTool', tool, ['name', 'execute()']);
      toJsonSchema(tool.inputSchema ?? {}, tool.name);
      contributions.tools.push(tool);
    },
    registerCommand(command) {
      admit('registerCommand', 'commands');
      check('registerCommand', command, ['name']);
      contributions.commands.push(command);
    },
    registerRule(rule) {
      admit('registerRule', 'rules');
      check('registerRule', rule, []);
      contributions.rules.push(rule);
    },
    registerMessageBuilder(builder) {
      admit('registerMessageBuilder', 'messageBuilders');
      check('registerMessageBuilder', builder, ['build()']);
      contributions.messageBuilders.push(builder);
    },
    registerProvider(provider) {
      admit('registerProvider', 'providers');
      check('registerProvider', provider, ['name']);
      contributions.providers.push(provider);
    },
    registerAutomationEventType(type) {
      admit('registerAutomationEventType', 'automationEvents');
      check('registerAutomationEventType', type, ['eventType', 'source']);
      contributions.automationEventTypes.push(trimmed(type));
    },
    registerMcpServer(server) {
      admit('registerMcpServer', 'mcp');
      check('registerMcpServer', server, ['name']);
      const metadata = { ...server.metadata, source: 'plugin', plugin: request.name };
      contributions.mcpServers.push({ ...server, metadata });
    },
  };
  return { api: Object.freeze(api), contributions, close: () => void (isOpen = false) };
}

function checkCapability(
  { name, plugin, isStrict, onWarning }: ApiRequest,
  method: string,
  capability: AgentExtensionCapability,
): void {
  if (plugin.manifest.capabilities.includes(capability)) return;
  const problem = `${method} requires the "${capability}" capability`;
  if (!isStrict && !ALWAYS_NEEDED.includes(capability)) {
    onWarning(`${problem}, which its manifest does not declare; it counts all the same`);
    return;
  }
  throw new HooklineError('PLUGIN_INVALID', {
    message: `Invalid setup for extension "${name}": ${problem}`,
    hint: `Add "${capability}" to manifest.capabilities.`,
  });
}

function tooLate(name: string, method: string): HooklineError {
  return new HooklineError('PLUGIN_LATE', {
    message: `the plugin "${name}" called ${method} after its setup had ended`,
    hint: 'Everything is registered in setup; what a session has does not change later.',
  });
}

/** A key that ends in `()` must be a function, any other a text that is not empty. */
function checkShape(place: string, given: unknown, keys: readonly string[]): void {
  if (!isRecord(given)) {
    throw new HooklineError('PLUGIN_INVALID', {
      message: `${place} expects an object, found ${getTypeName(given)}`,
    });
  }
  for (const key of keys) {
    const isFunction = key.endsWith('()');
    const field = key.replace('()', '');
    const value = given[field];
    const isFine = isFunction
      ? typeof value === 'function'
      : typeof value === 'string' && value.trim() !== '';
    if (isFine) continue;
    throw new HooklineError('PLUGIN_INVALID', {
      message: `${place} expects "${field}" to be ${isFunction ? 'a function' : 'a text'}, found ${value === undefined ? 'nothing' : getTypeName(value)}`,
    });
  }
}

function trimmed(type: AgentExtensionAutomationEventType): AgentExtensionAutomationEventType {
  const { eventType, source, examples, metadata } = type;
  return {
    ...type,
    eventType: eventType.trim(),
    source: source.trim(),
    ...(examples === undefined ? {} : { examples: [...examples] }),
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
  };
}
