import { isRecord, getTypeName } from '../../base/json.ts';
import { clampTimerDelay } from '../../base/abort.ts';
import type {
  AgentExtensionApi,
  PluginSetupContext,
  AgentExtensionCommand,
  AgentExtensionCommandResult,
  AgentExtensionMessageBuilder,
  AgentExtensionRule,
} from '../contract/plugin.ts';
import { HOOK_NAMES, type HookName } from '../contract/runtime-hooks.ts';
import type { EventForwarder } from './event-forwarder.ts';
import type { Ports } from './ports.ts';
import { serializeValue, deserializeValue, omitFields } from './wire/serialize.ts';
import type {
  HookForm,
  HooksForm,
  OfferedPorts,
  PluginForm,
  SetUpForm,
  ToolForm,
  AnswerForm,
  PackedChange,
  RequestChanges,
} from './wire/protocol.ts';
import { HooklineError } from '../../base/errors.ts';
import type { StandardIssue, StandardResult, StandardSchema } from '../contract/input-schema.ts';
import type { ProviderMessage } from '../contract/message.ts';
import { type AgentTool, withCheckingSchema } from '../contract/tool.ts';
import type { ContextSerializer } from './serialize-context.ts';
import type { Link } from './link.ts';
import { type SentLists, applyChange } from './wire/list-delta-cache.ts';

/** What the functions of a remote plugin need. */
interface RemoteServices {
  readonly link: Link;
  readonly lists: SentLists;
  readonly serializer: ContextSerializer;
  /** The time limit of a hook, a rule, a command or a message builder. */
  readonly timeoutMs: number;
  readonly forwarder: EventForwarder;
  readonly ports: Ports;
  readonly setupTimeoutMs: number;
  readonly isStrict: boolean;
  readonly onWarning: (message: string) => void;
  /** Called when the plugin is set up. */
  readonly onActive: () => void;
  /** Runs the plugin's dispose functions and ends the process; rejects with their errors. */
  readonly end: () => Promise<void>;
}

/** Creates an object that is used like the plugin, and calls the plugin in the other process. */
export function createRemotePlugin(
  { fields, hasSetup, hooks }: PluginForm,
  services: RemoteServices,
): object {
  const facade: Record<string, unknown> = { ...fields };
  if (hooks !== null) facade['hooks'] = createHooks(hooks, services);
  // A `setup` that is no function is reported when the manifest is read.
  const isSetUp = hasSetup || fields['setup'] === undefined;
  if (isSetUp) facade['setup'] = setUpThere;
  return facade;

  async function setUpThere(api: AgentExtensionApi, context: PluginSetupContext): Promise<void> {
    context.onDispose?.(services.end);
    try {
      // Declared before the events that the plugin emits during its setup.
      const ports = services.ports.open(context, (type) => api.registerAutomationEventType(type));
      const registered = await requestSetUp(context, ports, services);
      registerAll(api, registered, services);
      for (const id of registered.handlers) services.onWarning(isKeptThere(id));
      facade['hooks'] =
        registered.hooks === null ? undefined : createHooks(registered.hooks, services);
      services.onActive();
    } catch (error) {
      // Without a setup, the process is not needed.
      services.end().catch(() => undefined);
      throw error;
    }
  }
}

function isKeptThere(id: string): string {
  return `the provider "${id}" serves nothing: its code is in a process of its own; describe it with api.registerProvider and metadata.baseUrl, or use it without plugins.isolation`;
}

async function requestSetUp(
  context: PluginSetupContext,
  ports: OfferedPorts,
  { link, setupTimeoutMs, isStrict }: RemoteServices,
): Promise<SetUpForm> {
  const data = Object.fromEntries(Object.entries(context).filter(([key]) => !PORTS.includes(key)));
  const order = {
    type: 'setup',
    fields: serializeValue(data),
    ports,
    isStrict,
  } as const;
  const limit = setTimeout(
    () => link.kill(`did not end its setup within ${setupTimeoutMs} ms and was ended`),
    clampTimerDelay(setupTimeoutMs),
  );
  try {
    const { value } = await link.ask(order);
    const registered = deserializeValue(value);
    return isSetUp(registered) ? registered : NOTHING;
  } finally {
    clearTimeout(limit);
  }
}

/** The fields of the context that are no data. */
const PORTS: readonly string[] = ['automation', 'logger', 'telemetry', 'emitEvent', 'onDispose'];

/** The child process runs our own code, so only the type is narrowed. */
function isSetUp(registered: unknown): registered is SetUpForm {
  return isRecord(registered) && Array.isArray(registered['tools']);
}

const NOTHING: SetUpForm = {
  hooks: null,
  tools: [],
  commands: [],
  rules: [],
  messageBuilders: [],
  providers: [],
  handlers: [],
  mcpServers: [],
};

function createHooks(
  hooks: NonNullable<HooksForm>,
  services: RemoteServices,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(hooks);
  return Object.fromEntries(
    entries.map(([name, form]) => [name, createHook(name, form, services)]),
  );
}

function createHook(name: string, form: HookForm, services: RemoteServices): unknown {
  if (!form.isFunction) return form.value;
  const hook = isHookName(name) ? createCaller(name, services) : () => undefined;
  return form.failClosed ? Object.assign(hook, { failClosed: true }) : hook;
}

function isHookName(name: string): name is HookName {
  return HOOK_NAMES.some((each) => each === name);
}

function createCaller(hook: HookName, { link, serializer, forwarder, timeoutMs }: RemoteServices) {
  if (hook === 'onEvent') return (event: object) => forwarder.forward(event);
  return async (context: object): Promise<unknown> => {
    const request: unknown = Reflect.get(context, 'request');
    const signal = isRecord(request) && request['signal'];
    const answer = await link.ask(
      { type: 'hook', hook, context: serializer.serialize(context) },
      { timeoutMs, ...(signal instanceof AbortSignal ? { signal } : {}) },
    );
    const result = readResult(answer, request);
    if (answer.request !== undefined && isRecord(request)) {
      applyRequestChanges(request, answer.request);
    }
    return result;
  };
}

/** Registers the contributions of `setup` here, with functions that call the other process; event types exist already. */
function registerAll(
  api: AgentExtensionApi,
  registered: SetUpForm,
  services: RemoteServices,
): void {
  registered.tools.forEach((form, place) =>
    api.registerTool(createRemoteTool(form, place, services)),
  );
  registered.commands.forEach((form, place) =>
    api.registerCommand(createRemoteCommand(form, place, services)),
  );
  registered.rules.forEach((form, place) =>
    api.registerRule(createRemoteRule(form, place, services)),
  );
  registered.messageBuilders.forEach((form, place) =>
    api.registerMessageBuilder(createRemoteBuilder(form, place, services)),
  );
  for (const provider of registered.providers) api.registerProvider(provider);
  for (const server of registered.mcpServers) api.registerMcpServer(server);
}

function createRemoteTool(
  { fields, checks }: ToolForm,
  place: number,
  services: RemoteServices,
): AgentTool {
  const { link, serializer } = services;
  const tool: AgentTool = {
    ...fields,
    async execute(input, context) {
      const onUpdate = (update: unknown): void => context.emitUpdate?.(update);
      const order = {
        type: 'tool',
        place,
        input: serializeValue(input),
        context: serializer.serialize(omitFields(context, ['emitUpdate'])),
        hasUpdates: 'emitUpdate' in context,
      } as const;
      const { value } = await link.ask(order, { signal: context.signal, onUpdate });
      return deserializeValue(value);
    },
  };
  return checks
    ? withCheckingSchema(tool, createRemoteSchema(fields.inputSchema, place, services))
    : tool;
}

/** The author's schema stays in the other process, which validates and transforms inputs with it. */
function createRemoteSchema(
  jsonSchema: object,
  place: number,
  { link, timeoutMs }: RemoteServices,
): StandardSchema {
  const standard = {
    version: 1,
    vendor: 'hookline',
    jsonSchema: { input: () => jsonSchema },
    async validate(value: unknown): Promise<StandardResult> {
      try {
        const answer = await link.ask(
          { type: 'check', place, input: serializeValue(value) },
          { timeoutMs },
        );
        const issues = deserializeValue(answer.value);
        return isIssues(issues) ? { issues } : { value };
      } catch {
        // The tool call reports that the process cannot be reached.
        return { value };
      }
    },
  };
  return { '~standard': standard };
}

function isIssues(issues: unknown): issues is readonly StandardIssue[] {
  return Array.isArray(issues) && issues.length > 0;
}

function createRemoteCommand(
  { fields, hasFunction }: SetUpForm['commands'][number],
  place: number,
  { link, timeoutMs }: RemoteServices,
): AgentExtensionCommand {
  if (!hasFunction) return fields;
  return {
    ...fields,
    async handler(input) {
      const { value } = await link.ask({ type: 'command', place, input }, { timeoutMs });
      return readCommandResult(deserializeValue(value));
    },
  };
}

function readCommandResult(result: unknown): AgentExtensionCommandResult | undefined {
  if (typeof result === 'string') return result;
  if (!isRecord(result)) return undefined;
  const { reply, submitPrompt } = result;
  return {
    ...(typeof reply === 'string' ? { reply } : {}),
    ...(typeof submitPrompt === 'string' ? { submitPrompt } : {}),
  };
}

function createRemoteRule(
  { fields, hasFunction }: SetUpForm['rules'][number],
  place: number,
  { link, timeoutMs }: RemoteServices,
): AgentExtensionRule {
  if (!hasFunction) return { content: '', ...fields };
  return {
    ...fields,
    async content() {
      const { value } = await link.ask({ type: 'rule', place }, { timeoutMs });
      const text = deserializeValue(value);
      return typeof text === 'string' ? text : '';
    },
  };
}

function createRemoteBuilder(
  { fields }: SetUpForm['messageBuilders'][number],
  place: number,
  { link, lists, timeoutMs }: RemoteServices,
): AgentExtensionMessageBuilder {
  return {
    ...fields,
    async build(original) {
      const messages = lists.recordChange(`built by ${place}`, original);
      const answer = await link.ask({ type: 'build', place, messages }, { timeoutMs });
      const change = answer.lists?.messages;
      const built =
        change === undefined ? deserializeValue(answer.value) : applyChanges(original, change);
      if (isMessages(built)) return built;
      throw new HooklineError('PLUGIN_INVALID', {
        message: `it gave ${built === undefined ? 'nothing' : getTypeName(built)}, expected a list of messages`,
      });
    },
  };
}

/** The caller validates the items. */
function isMessages(built: unknown): built is readonly ProviderMessage[] {
  return Array.isArray(built);
}

/** Applies the changes of the other process; unchanged items stay identical. */
function applyChanges(before: readonly unknown[], change: PackedChange): unknown[] {
  const between = deserializeValue(change.between);
  return applyChange(before, { ...change, between: Array.isArray(between) ? between : [] });
}

/** Applies the changes that a hook made to its copy of the request. */
function applyRequestChanges(request: object, { set, removed, lists }: RequestChanges): void {
  const { messages, tools } = lists;
  if (messages !== undefined) setList(request, 'messages', messages);
  if (tools !== undefined) setList(request, 'tools', tools);
  const fields = deserializeValue(set);
  if (isRecord(fields)) Object.assign(request, fields);
  for (const key of removed) Reflect.deleteProperty(request, key);
}

function setList(owner: object, key: string, change: PackedChange): void {
  Reflect.set(owner, key, applyChanges(listIn(owner, key), change));
}

function listIn(owner: object, key: string): readonly unknown[] {
  const list: unknown = Reflect.get(owner, key);
  return Array.isArray(list) ? list : [];
}

/** Reads the result of a hook, with the changed lists applied to those in the request. */
function readResult({ value, lists = {} }: AnswerForm, request: unknown): unknown {
  const result = deserializeValue(value);
  if (!isRecord(result) || !isRecord(request)) return result;
  const { messages, tools } = lists;
  return {
    ...result,
    ...(messages === undefined
      ? {}
      : { messages: applyChanges(listIn(request, 'messages'), messages) }),
    ...(tools === undefined ? {} : { tools: applyChanges(listIn(request, 'tools'), tools) }),
  };
}
