import { isRecord } from '../../base/json.ts';
import { toJsonSchema } from '../../plugins/contract/input-schema.ts';
import type { AgentExtensionApi, AgentPlugin } from '../../plugins/contract/plugin.ts';
import type { AgentTool } from '../../plugins/contract/tool.ts';
import type { PluginStatus } from '../../plugins/registry.ts';

/** The contributions of a plugin as plain data, for snapshots. */
export interface PluginContributions {
  readonly name: string;
  readonly state: PluginStatus['state'];
  readonly capabilities: readonly string[];
  readonly hooks: readonly string[];
  readonly tools: readonly Plain[];
  readonly commands: readonly Plain[];
  readonly rules: readonly Plain[];
  readonly messageBuilders: readonly Plain[];
  readonly providers: readonly Plain[];
  readonly automationEventTypes: readonly Plain[];
  readonly mcpServers: readonly Plain[];
}

export type Plain = Readonly<Record<string, unknown>>;

/** A plugin whose registrations are recorded. */
export interface WatchedPlugin {
  readonly plugin: AgentPlugin;
  contributions(status: PluginStatus | undefined): PluginContributions;
}

export function watchPlugin(plugin: AgentPlugin): WatchedPlugin {
  const registered: Registered[] = [];
  return {
    plugin: withSetup(plugin, registered),
    contributions(status) {
      const state = status?.state ?? 'failed';
      const isActive = state === 'ready' || state === 'degraded';
      const listRegistered = (method: Method): readonly Plain[] =>
        registered.filter((each) => isActive && each.method === method).map(({ thing }) => thing);
      return {
        name: plugin.name,
        state,
        // The argument may be no plugin at all, and the test may be about that.
        capabilities: [...(plugin.manifest?.capabilities ?? [])],
        hooks: isActive ? listHookNames(plugin) : [],
        tools: listRegistered('registerTool'),
        commands: listRegistered('registerCommand'),
        rules: listRegistered('registerRule'),
        messageBuilders: listRegistered('registerMessageBuilder'),
        providers: listRegistered('registerProvider'),
        automationEventTypes: listRegistered('registerAutomationEventType'),
        mcpServers: listRegistered('registerMcpServer'),
      };
    },
  };
}

type Method = keyof AgentExtensionApi;

interface Registered {
  readonly method: Method;
  readonly thing: Plain;
}

/** A proxy, so that the plugin's other properties, and changes to them in setup, stay its own. */
function withSetup(plugin: AgentPlugin, registered: Registered[]): AgentPlugin {
  if (typeof plugin.setup !== 'function') return plugin;
  const setup: AgentPlugin['setup'] = (api, ctx) => plugin.setup?.(watchApi(api, registered), ctx);
  return new Proxy(plugin, {
    get: (own, name): unknown => (name === 'setup' ? setup : Reflect.get(own, name)),
  });
}

function watchApi(api: AgentExtensionApi, registered: Registered[]): AgentExtensionApi {
  const note = (method: Method, thing: unknown): void =>
    void registered.push({ method, thing: toPlain(thing) });
  return {
    registerTool(tool) {
      api.registerTool(tool);
      registered.push({ method: 'registerTool', thing: toPlainTool(tool) });
    },
    registerCommand(command) {
      api.registerCommand(command);
      note('registerCommand', command);
    },
    registerRule(rule) {
      api.registerRule(rule);
      note('registerRule', rule);
    },
    registerMessageBuilder(builder) {
      api.registerMessageBuilder(builder);
      note('registerMessageBuilder', builder);
    },
    registerProvider(provider) {
      api.registerProvider(provider);
      note('registerProvider', provider);
    },
    registerAutomationEventType(type) {
      api.registerAutomationEventType(type);
      note('registerAutomationEventType', type);
    },
    registerMcpServer(server) {
      api.registerMcpServer(server);
      note('registerMcpServer', server);
    },
  };
}

/** Converts to plain data; functions become their names. */
function toPlain(thing: unknown): Plain {
  const entries = Object.entries(isRecord(thing) ? thing : {});
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'function' ? '[function]' : value]),
  );
}

function toPlainTool(tool: AgentTool): Plain {
  return { ...toPlain(tool), inputSchema: toJsonSchema(tool.inputSchema ?? {}, tool.name) };
}

function listHookNames({ hooks = {} }: AgentPlugin): readonly string[] {
  return Object.entries(hooks).flatMap(([name, hook]) =>
    typeof hook === 'function' ? [name] : [],
  );
}
