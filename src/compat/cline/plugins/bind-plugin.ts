import { dropUndefined } from '../../../base/defined.ts';
import {
  type AgentExtensionApi,
  type AgentPlugin,
  noopTelemetry,
  type PluginSetupContext,
} from '../../../plugins/contract/plugin.ts';
import { HOOK_NAMES } from '../../../plugins/contract/runtime-hooks.ts';
import { callWithTimeout } from '../../../plugins/call-with-timeout.ts';

/** What the caller of a loader wants of its plugins, wherever they run later. */
export interface PluginBinding {
  /** What `setup` gets in its context, unless its caller says otherwise. */
  readonly context: Partial<PluginSetupContext>;
  /** Gets what the plugin emits; without it, the session does. */
  readonly emitEvent?: PluginSetupContext['emitEvent'];
  /** The time limit of a hook; without one, that of the session holds. */
  readonly hookTimeoutMs?: number;
  /** The time limit of a tool, command, rule or message builder. */
  readonly contributionTimeoutMs?: number;
}

/** Returns the plugin with the context and time limits that its loader was asked for. */
export function bindPlugin(plugin: AgentPlugin, binding: PluginBinding): AgentPlugin {
  const { context, emitEvent, hookTimeoutMs, contributionTimeoutMs } = binding;
  const hasContext = emitEvent !== undefined || Object.keys(context).length > 0;
  if (!hasContext && hookTimeoutMs === undefined && contributionTimeoutMs === undefined) {
    return plugin;
  }
  const setup: AgentPlugin['setup'] = (api, ctx) => {
    const limited =
      contributionTimeoutMs === undefined
        ? api
        : limitContributions(api, plugin.name, contributionTimeoutMs);
    const own = fillContext(ctx, context);
    return plugin.setup?.(limited, emitEvent === undefined ? own : { ...own, emitEvent });
  };
  return copyWith(plugin, {
    ...(plugin.setup === undefined ? {} : { setup: { value: setup, enumerable: true } }),
    // Read each time, because setup may replace the hooks.
    ...(hookTimeoutMs === undefined
      ? {}
      : { hooks: { get: () => limitHooks(plugin, hookTimeoutMs), enumerable: true } }),
  });
}

/** Adds what the loader was given where the session has nothing, or telemetry that sends nothing. */
function fillContext(
  ctx: PluginSetupContext,
  context: Partial<PluginSetupContext>,
): PluginSetupContext {
  const telemetry = ctx.telemetry === noopTelemetry ? undefined : ctx.telemetry;
  return { ...ctx, ...context, ...dropUndefined({ ...ctx, telemetry }) };
}

/** A copy, because the object may be frozen; its prototype and getters stay. */
function copyWith<Own extends object>(own: Own, changes: PropertyDescriptorMap): Own {
  const descriptors = { ...Object.getOwnPropertyDescriptors(own), ...changes };
  const prototype = Reflect.getPrototypeOf(own);
  const copy: unknown = Object.create(prototype, descriptors);
  return isCopy(copy, own) ? copy : own;
}

function isCopy<Own extends object>(copy: unknown, own: Own): copy is Own {
  return typeof copy === typeof own;
}

function limitHooks({ hooks, name }: AgentPlugin, timeoutMs: number): AgentPlugin['hooks'] {
  if (hooks === undefined) return undefined;
  const changes: PropertyDescriptorMap = {};
  for (const hook of HOOK_NAMES) {
    const limit = { what: `${hook} of ${name}`, timeoutMs, setting: 'hookTimeoutMs' };
    Object.assign(changes, limitMethod(hooks, hook, limit));
  }
  return copyWith(hooks, changes);
}

type Limit = Parameters<typeof callWithTimeout>[1];

/** Describes the method with a time limit; nothing when it is not a function. */
function limitMethod(owner: object, key: string, limit: Limit): PropertyDescriptorMap {
  const method: unknown = Reflect.get(owner, key);
  if (typeof method !== 'function') return {};
  const limited = (...args: readonly unknown[]): Promise<unknown> =>
    callWithTimeout((): unknown => Reflect.apply(method, owner, args), limit);
  // Marks such as `failClosed` are properties of the function.
  return { [key]: { value: Object.assign(limited, method), enumerable: true } };
}

function limitContributions(
  api: AgentExtensionApi,
  plugin: string,
  timeoutMs: number,
): AgentExtensionApi {
  const limit = <Own extends object>(own: Own, key: string, what: string): Own => {
    const setting = 'contributionTimeoutMs';
    return copyWith(
      own,
      limitMethod(own, key, { what: `${what} of ${plugin}`, timeoutMs, setting }),
    );
  };
  const limited: Partial<AgentExtensionApi> = {
    registerTool: (tool) => api.registerTool(limit(tool, 'execute', `the tool ${tool.name}`)),
    registerCommand: (command) =>
      api.registerCommand(limit(command, 'handler', `the command ${command.name}`)),
    registerRule: (rule) => api.registerRule(limit(rule, 'content', `the rule ${rule.id}`)),
    registerMessageBuilder: (builder) =>
      api.registerMessageBuilder(limit(builder, 'build', `the message builder ${builder.name}`)),
  };
  return copyWith(api, Object.getOwnPropertyDescriptors(limited));
}
