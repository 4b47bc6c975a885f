import { isRecord } from '../../../base/json.ts';
import type { ActivePlugin } from '../../loaded-plugin.ts';
import { isStandardSchema, toJsonSchema } from '../../contract/input-schema.ts';
import type { AgentExtensionProvider, AgentExtensionRule } from '../../contract/plugin.ts';
import { listHookNames } from '../../contract/runtime-hooks.ts';
import { type AgentTool, getCheckingSchema } from '../../contract/tool.ts';
import { omitFields } from '../wire/serialize.ts';
import type { HookForm, HooksForm, PluginForm, SetUpForm, ToolForm } from '../wire/protocol.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A plugin's outside, as its host looks at it. Throws what its getters throw. */
export function describePlugin(plugin: object): PluginForm {
  const { hooks, setup, ...fields } = withInherited(plugin, PLUGIN_FIELDS);
  const hasSetup = typeof setup === 'function';
  const isTold = hasSetup || setup === undefined;
  return {
    fields: {
      ...fields,
      ...(isTold ? {} : { setup }),
      ...(hooks === undefined || isRecord(hooks) ? {} : { hooks }),
    },
    hasSetup,
    hooks: describeHooks(hooks),
  };
}

const PLUGIN_FIELDS = ['name', 'manifest', 'disabled', 'hooks', 'setup'];

/** What a class has is not its objects' own. */
function withInherited(owner: object, names: readonly string[]): Fields {
  const inherited = names.filter((name) => name in owner);
  const values = inherited.map((name): [string, unknown] => [name, Reflect.get(owner, name)]);
  return { ...owner, ...Object.fromEntries(values) };
}

function describeHooks(hooks: unknown): HooksForm {
  if (!isRecord(hooks)) return null;
  // Methods of a class are none of its object's own.
  const names = new Set([...Object.keys(hooks), ...listHookNames(hooks)]);
  const entries = [...names].map((name) => [name, describeHook(hooks[name])] as const);
  return Object.fromEntries(entries);
}

function describeHook(hook: unknown): HookForm {
  if (typeof hook !== 'function') return { isFunction: false, value: hook };
  return { isFunction: true, failClosed: Reflect.get(hook, 'failClosed') === true };
}

/** Providers that a plugin registered elsewhere than with its api. */
export interface RegisteredHere {
  readonly services: readonly AgentExtensionProvider[];
  /** The ids of those whose answers are made by code. */
  readonly handlers: readonly string[];
}

export function describeContributions(
  { plugin, contributions: made }: ActivePlugin,
  { services, handlers }: RegisteredHere,
): SetUpForm {
  return {
    hooks: describeHooks(plugin.hooks),
    tools: made.tools.map(describeTool),
    commands: made.commands.map((command) => ({
      fields: omitFields(command, ['handler']),
      hasFunction: typeof Reflect.get(command, 'handler') === 'function',
    })),
    rules: made.rules.map(describeRule),
    messageBuilders: made.messageBuilders.map((builder) => ({
      fields: omitFields(builder, ['build']),
      hasFunction: true,
    })),
    providers: withServices(made.providers, services),
    handlers,
    mcpServers: made.mcpServers,
  };
}

/** Some plugins announce with the api what they describe elsewhere: that is one provider. */
function withServices(
  own: readonly AgentExtensionProvider[],
  services: readonly AgentExtensionProvider[],
): readonly AgentExtensionProvider[] {
  const announced = own.map((each) => {
    const service = services.find(({ name }) => name === each.name.trim());
    if (service === undefined) return each;
    return { ...each, metadata: { ...service.metadata, ...each.metadata } };
  });
  const others = services.filter(({ name }) => !own.some((each) => each.name.trim() === name));
  return [...announced, ...others];
}

function describeTool(tool: AgentTool): ToolForm {
  const { inputSchema, ...fields } = omitFields(tool, ['execute']);
  return {
    // Tools may be plain JavaScript, which no compiler has seen.
    fields: {
      ...fields,
      inputSchema: toJsonSchema(inputSchema ?? {}, tool.name),
    },
    checks: isStandardSchema(getCheckingSchema(tool)),
  };
}

function describeRule(rule: AgentExtensionRule): SetUpForm['rules'][number] {
  const { content, ...fields } = rule;
  if (typeof content === 'function') return { fields, hasFunction: true };
  return { fields: { ...fields, content }, hasFunction: false };
}
