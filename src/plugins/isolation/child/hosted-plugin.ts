import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import type {
  PluginSetupContext,
  AgentExtensionProvider,
  AgentExtensionRule,
} from '../../contract/plugin.ts';
import { type HookName, listHookNames } from '../../contract/runtime-hooks.ts';
import { type AgentTool, getCheckingSchema } from '../../contract/tool.ts';
import type { Loading } from '../../load/loading.ts';
import type { ActivePlugin, LoadedPlugin } from '../../loaded-plugin.ts';
import { setUpPlugin } from '../../set-up-plugin.ts';
import { isStream, readStream } from '../../serialize/read-stream.ts';
import { callMethod, serializeValue, deserializeValue, omitFields } from '../wire/serialize.ts';
import { KnownLists } from '../wire/list-delta-cache.ts';
import type {
  AnswerForm,
  ContextForm,
  ListChanges,
  LoadedForm,
  LoadOrder,
  Order,
  SetUpOrder,
  ToolOrder,
  HookForm,
  HooksForm,
  PluginForm,
  SetUpForm,
  ToolForm,
} from '../wire/protocol.ts';
import type { HostPorts } from './host-ports.ts';
import { ContextRebuilder, serializeChange } from './rebuild-context.ts';
import { isStandardSchema, type StandardIssue, toJsonSchema } from '../../contract/input-schema.ts';

export type LoadHere = (
  order: Pick<LoadOrder, 'entry' | 'cacheDirectory' | 'timeoutMs'>,
) => Promise<Loading>;

/** The plugin of this process. */
export class HostedPlugin {
  readonly #load: LoadHere;
  readonly #ports: HostPorts;
  readonly #registeredHere: () => Promise<RegisteredHere>;
  readonly #lists = new KnownLists();
  readonly #rebuilder = new ContextRebuilder(this.#lists);
  readonly #disposals: (() => unknown)[] = [];
  #loaded: ActivePlugin | null = null;

  constructor(load: LoadHere, ports: HostPorts, registeredHere: () => Promise<RegisteredHere>) {
    this.#load = load;
    this.#ports = ports;
    this.#registeredHere = registeredHere;
  }

  /** Rejects with what the plugin throws. */
  run(order: Order, signal: AbortSignal, onUpdate: (update: unknown) => void): Promise<AnswerForm> {
    switch (order.type) {
      case 'load':
        return this.#loadPlugin(order);
      case 'setup':
        return this.#setUp(order);
      case 'hook':
        return this.#runHook(order.hook, order.context, signal);
      case 'tool':
        return this.#runTool(order, signal, onUpdate);
      case 'check':
        return this.#check(order.place, deserializeValue(order.input));
      case 'command':
        return this.#runCommand(order.place, order.input);
      case 'rule':
        return this.#runRule(order.place);
      case 'build':
        return this.#build(order);
      case 'dispose':
        return this.#dispose();
    }
  }

  /** Calls the plugin's listener and returns its result. */
  notifyListener(form: ContextForm): unknown {
    const { context } = this.#rebuilder.rebuild(form, null);
    return this.#callHook('onEvent', context);
  }

  async #loadPlugin(order: LoadOrder): Promise<AnswerForm> {
    const { cwd, workspaceInfo } = order;
    setGlobal('__clinePluginHost', Object.freeze({ emitEvent: this.#ports.emitEvent }));
    setGlobal('__clineSessionEnv', { cwd, workspaceInfo: deserializeValue(workspaceInfo) });
    return toAnswer(this.#describe(await this.#load(order)));
  }

  #describe(loading: Loading): LoadedForm {
    if (loading.kind !== 'loaded') return loading;
    if (!isActive(loading)) return { kind: 'other', value: loading.plugin };
    this.#loaded = loading;
    try {
      return { kind: 'loaded', ...describePlugin(loading.plugin) };
    } catch (error) {
      return { kind: 'failed', message: `it cannot be read: ${getErrorMessage(error)}` };
    }
  }

  async #setUp({ fields, ports, isStrict }: SetUpOrder): Promise<AnswerForm> {
    const loaded = this.#loaded ?? createMissingError();
    const data = deserializeValue(fields);
    const context: PluginSetupContext = {
      ...(isRecord(data) ? data : {}),
      ...this.#ports.createContext(ports),
      onDispose: (dispose) => void this.#disposals.push(dispose),
    };
    const { cwd, workspaceInfo } = context;
    setGlobal('__clineSessionEnv', { cwd, workspaceInfo });
    await setUpPlugin(loaded, context, {
      isStrict,
      // The host repeats the registration, and warns then.
      onViolation: () => undefined,
      onEventType: (type) => this.#ports.declare(type),
    });
    const registered = await this.#registeredHere();
    return toAnswer(describeContributions(loaded, registered));
  }

  async #runHook(hook: HookName, form: ContextForm, signal: AbortSignal): Promise<AnswerForm> {
    const { context, request } = this.#rebuilder.rebuild(form, signal);
    const withChanges = watchChanges(hook, context);
    const result = withChanges(readResult(await this.#callHook(hook, context)));
    if (request === null) return toAnswer(result);
    const lists = request.listChanges(result);
    return { ...toAnswer(omitLists(result, lists)), lists, request: request.collectChanges() };
  }

  #callHook(hook: HookName, context: object): unknown {
    return callMethod(this.#loaded?.plugin.hooks ?? {}, hook, [context]);
  }

  async #runTool(
    order: ToolOrder,
    signal: AbortSignal,
    onUpdate: (update: unknown) => void,
  ): Promise<AnswerForm> {
    const tool = this.#getTool(order.place);
    const { context } = this.#rebuilder.rebuild(order.context, signal);
    if (order.hasUpdates) context['emitUpdate'] = onUpdate;
    const input = await parseInput(tool, deserializeValue(order.input));
    const result = await callMethod(tool, 'execute', [input, context]);
    // A stream cannot be sent to another process, and the model gets only its text.
    return toAnswer(isStream(result) ? await readStream(result, signal) : result);
  }

  async #check(place: number, input: unknown): Promise<AnswerForm> {
    return toAnswer(await describeSchemaIssues(this.#getTool(place), input));
  }

  #getTool(place: number): AgentTool {
    return this.#loaded?.contributions.tools[place] ?? createMissingError();
  }

  async #runCommand(place: number, input: string): Promise<AnswerForm> {
    const command = this.#loaded?.contributions.commands[place] ?? createMissingError();
    return toAnswer(await callMethod(command, 'handler', [input]));
  }

  async #runRule(place: number): Promise<AnswerForm> {
    const rule = this.#loaded?.contributions.rules[place] ?? createMissingError();
    return toAnswer(await callMethod(rule, 'content', []));
  }

  async #build({ place, messages }: Extract<Order, { type: 'build' }>): Promise<AnswerForm> {
    const builder = this.#loaded?.contributions.messageBuilders[place] ?? createMissingError();
    const before = this.#lists.applyChange(messages);
    const copies = structuredClone(before.items.slice(0, before.length));
    const built = await callMethod(builder, 'build', [copies]);
    if (!Array.isArray(built)) return toAnswer(built);
    return { ...toAnswer(undefined), lists: { messages: serializeChange(before, built).change } };
  }

  /** Runs the dispose functions, the last one first; a failure does not keep the others from running. */
  async #dispose(): Promise<AnswerForm> {
    const failures: string[] = [];
    for (const dispose of this.#disposals.splice(0).toReversed()) {
      try {
        await dispose();
      } catch (error) {
        failures.push(getErrorMessage(error));
      }
    }
    if (failures.length === 0) return toAnswer(undefined);
    throw new HooklineError('PLUGIN_ENDED', { message: failures.join('; ') });
  }
}

function toAnswer(value: unknown): AnswerForm {
  return { ok: true, value: serializeValue(value) };
}

/** The fields of hooks' results that hosts read. */
const RESULT_FIELDS: readonly string[] = [
  'skip',
  'stop',
  'reason',
  'policy',
  'input',
  'appendContext',
  'result',
  'message',
  'messages',
  'tools',
  'options',
  'systemPrompt',
];

/** Getters of a class and hidden fields are not sent to another process, and one of them may refuse. */
function readResult(result: unknown): unknown {
  const fields = exposeFields(result, RESULT_FIELDS);
  if (!isRecord(fields) || !isRecord(fields['policy'])) return fields;
  return { ...fields, policy: exposeFields(fields['policy'], ['enabled', 'autoApprove']) };
}

function exposeFields(value: unknown, names: readonly string[]): unknown {
  if (!isRecord(value)) return value;
  const hidden = names
    .filter((name) => !Object.prototype.propertyIsEnumerable.call(value, name))
    .map((name) => [name, value[name]] as const)
    .filter(([, each]) => each !== undefined);
  return hidden.length === 0 ? value : { ...value, ...Object.fromEntries(hidden) };
}

function createMissingError(): never {
  throw new HooklineError('PLUGIN_ENDED', { message: 'nothing of this plugin is here' });
}

function setGlobal(name: string, value: unknown): void {
  Reflect.set(globalThis, name, value);
}

/** The host validates it. */
function isActive(loaded: LoadedPlugin): loaded is ActivePlugin {
  return isRecord(loaded.plugin);
}

/** Removes the lists that are sent as changes. */
function omitLists(result: unknown, lists: ListChanges): unknown {
  if (!isRecord(result)) return result;
  return Object.fromEntries(Object.entries(result).filter(([key]) => !Object.hasOwn(lists, key)));
}

/** Validates and transforms an input with the author's schema, if there is one. */
async function parseInput(tool: AgentTool, input: unknown): Promise<unknown> {
  const schema = getCheckingSchema(tool);
  if (!isStandardSchema(schema)) return input;
  const result = await schema['~standard'].validate(input);
  if (result.issues === undefined) return result.value;
  const problems = result.issues.map(({ message }) => message).join('; ');
  throw new HooklineError('PLUGIN_INVALID', {
    message: `the input of ${tool.name} does not fit its schema: ${problems}`,
  });
}

/** Lists the problems of an input; of each issue, only its message and path. */
async function describeSchemaIssues(tool: AgentTool, input: unknown): Promise<StandardIssue[]> {
  const schema = getCheckingSchema(tool);
  if (!isStandardSchema(schema)) return [];
  const { issues = [] } = await schema['~standard'].validate(input);
  return issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((step) => String(typeof step === 'object' ? step.key : step)),
  }));
}

/** The fields that hooks may change in place, and the field of their result with the same meaning. */
const CHANGEABLE: Partial<
  Record<HookName, { readonly argument: string; readonly returned: string }>
> = {
  afterModel: { argument: 'assistantMessage', returned: 'message' },
  beforeTool: { argument: 'input', returned: 'input' },
};

/** A hook changes a copy here, so in-place changes are sent as if the hook had returned them. */
function watchChanges(
  hook: HookName,
  context: Readonly<Record<string, unknown>>,
): (result: unknown) => unknown {
  const changeable = CHANGEABLE[hook];
  if (changeable === undefined) return (result) => result;
  const { argument, returned } = changeable;
  const value = context[argument];
  const before = JSON.stringify(value);
  return (result) => {
    const fields = isRecord(result) ? result : {};
    const isChanged = fields[returned] === undefined && JSON.stringify(value) !== before;
    return isChanged ? { ...fields, [returned]: value } : result;
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Describes a plugin for its host. Throws what its getters throw. */
function describePlugin(plugin: object): PluginForm {
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

/** Includes the members of the class, which are not own properties of its object. */
function withInherited(owner: object, names: readonly string[]): Fields {
  const inherited = names.filter((name) => name in owner);
  const values = inherited.map((name): [string, unknown] => [name, Reflect.get(owner, name)]);
  return { ...owner, ...Object.fromEntries(values) };
}

function describeHooks(hooks: unknown): HooksForm {
  if (!isRecord(hooks)) return null;
  // Methods of a class are not own properties of its object.
  const names = new Set([...Object.keys(hooks), ...listHookNames(hooks)]);
  const entries = [...names].map((name) => [name, describeHook(hooks[name])] as const);
  return Object.fromEntries(entries);
}

function describeHook(hook: unknown): HookForm {
  if (typeof hook !== 'function') return { isFunction: false, value: hook };
  return { isFunction: true, failClosed: Reflect.get(hook, 'failClosed') === true };
}

/** Providers that a plugin registered through its imports instead of its api. */
export interface RegisteredHere {
  readonly services: readonly AgentExtensionProvider[];
  /** The ids of providers that are implemented by code. */
  readonly handlers: readonly string[];
}

function describeContributions(
  { plugin, contributions }: ActivePlugin,
  { services, handlers }: RegisteredHere,
): SetUpForm {
  return {
    hooks: describeHooks(plugin.hooks),
    tools: contributions.tools.map(describeTool),
    commands: contributions.commands.map((command) => ({
      fields: omitFields(command, ['handler']),
      hasFunction: typeof Reflect.get(command, 'handler') === 'function',
    })),
    rules: contributions.rules.map(describeRule),
    messageBuilders: contributions.messageBuilders.map((builder) => ({
      fields: omitFields(builder, ['build']),
      hasFunction: true,
    })),
    providers: withServices(contributions.providers, services),
    handlers,
    mcpServers: contributions.mcpServers,
  };
}

/** A provider may be announced with the api and described through an import: both are merged. */
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
    // Tools may be plain JavaScript, so the fields are not type-checked.
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
