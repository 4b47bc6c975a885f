import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { type Contributions, createApi } from '../../api.ts';
import type {
  AgentExtensionApi,
  AgentExtensionAutomationEventType,
  AgentPlugin,
  PluginSetupContext,
} from '../../contract/plugin.ts';
import type { HookName } from '../../contract/runtime-hooks.ts';
import type { AgentTool } from '../../contract/tool.ts';
import type { Loading } from '../../load/loading.ts';
import { isStream, readStream } from '../../values/read-stream.ts';
import { callMethod } from '../wire/call-method.ts';
import { createKnownLists } from '../wire/known-lists.ts';
import { pack, unpack } from '../wire/portable.ts';
import type {
  AnswerForm,
  ContextForm,
  ListChanges,
  LoadedForm,
  LoadOrder,
  Order,
  SetUpOrder,
  ToolOrder,
} from '../wire/protocol.ts';
import { describeContributions, describePlugin, type RegisteredHere } from './describe.ts';
import type { HostPorts } from './host-ports.ts';
import { issuesWith, parsedInput } from './own-schema.ts';
import { createTelling, packedChange } from './told.ts';
import { watchChanges } from './watch-changes.ts';

export type LoadHere = (
  order: Pick<LoadOrder, 'entry' | 'cacheDirectory' | 'timeoutMs'>,
) => Promise<Loading>;

/** What a call is given besides its order. */
export interface CallMeans {
  readonly signal: AbortSignal;
  readonly onUpdate: (update: unknown) => void;
}

export interface HostedPluginMeans {
  readonly load: LoadHere;
  readonly ports: HostPorts;
  readonly registeredHere: () => Promise<RegisteredHere>;
}

/** The one plugin of this process. */
export class HostedPlugin {
  readonly #means: HostedPluginMeans;
  readonly #lists = createKnownLists();
  readonly #telling = createTelling(this.#lists);
  readonly #disposals: (() => unknown)[] = [];
  #plugin: AgentPlugin | null = null;
  #made: Contributions | null = null;

  constructor(means: HostedPluginMeans) {
    this.#means = means;
  }

  /** Rejects with what the plugin throws. */
  run(order: Order, means: CallMeans): Promise<AnswerForm> {
    switch (order.type) {
      case 'load':
        return this.#load(order);
      case 'setup':
        return this.#setUp(order);
      case 'hook':
        return this.#runHook(order.hook, order.context, means.signal);
      case 'tool':
        return this.#runTool(order, means);
      case 'check':
        return this.#check(order.place, unpack(order.input));
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

  /** Calls its listener; the result is its own. */
  hear(form: ContextForm): unknown {
    const { context } = this.#telling.tell(form, null);
    return this.#callHook('onEvent', context);
  }

  async #load(order: LoadOrder): Promise<AnswerForm> {
    const { load, ports } = this.#means;
    const { cwd, workspaceInfo } = order;
    const emitEvent: HostPorts['emitEvent'] = (name, payload) => ports.emitEvent(name, payload);
    setGlobal('__clinePluginHost', Object.freeze({ emitEvent }));
    setGlobal('__clineSessionEnv', { cwd, workspaceInfo: unpack(workspaceInfo) });
    return answered(this.#describe(await load(order)));
  }

  #describe(loading: Loading): LoadedForm {
    if (loading.kind !== 'loaded') return loading;
    const { plugin } = loading;
    if (!isPlugin(plugin)) return { kind: 'other', value: plugin };
    this.#plugin = plugin;
    try {
      return { kind: 'loaded', ...describePlugin(plugin) };
    } catch (error) {
      return { kind: 'failed', message: `it cannot be looked at: ${getErrorMessage(error)}` };
    }
  }

  async #setUp({ fields, ports, isStrict }: SetUpOrder): Promise<AnswerForm> {
    const plugin = this.#plugin ?? nothingHere();
    const { name } = plugin;
    // What its author should know is said on the other side, where everything is registered again.
    const onWarning = (): void => undefined;
    const { api, contributions, close } = createApi({ name, plugin, isStrict, onWarning });
    const data = unpack(fields);
    const context: PluginSetupContext = {
      ...(isRecord(data) ? data : {}),
      ...this.#means.ports.context(ports),
      onDispose: (dispose) => void this.#disposals.push(dispose),
    };
    const { cwd, workspaceInfo } = context;
    setGlobal('__clineSessionEnv', { cwd, workspaceInfo });
    try {
      await plugin.setup?.(this.#declaring(api, contributions), context);
    } finally {
      close();
    }
    this.#made = contributions;
    const registered = await this.#means.registeredHere();
    return answered(describeContributions(contributions, plugin.hooks, registered));
  }

  #declaring(api: AgentExtensionApi, { automationEventTypes }: Contributions): AgentExtensionApi {
    return Object.freeze({
      ...api,
      registerAutomationEventType: (type: AgentExtensionAutomationEventType) => {
        api.registerAutomationEventType(type);
        const declared = automationEventTypes.at(-1);
        if (declared !== undefined) this.#means.ports.declare(declared);
      },
    });
  }

  async #runHook(hook: HookName, form: ContextForm, signal: AbortSignal): Promise<AnswerForm> {
    const { context, request } = this.#telling.tell(form, signal);
    const withChanges = watchChanges(hook, context);
    const result = withChanges(await this.#callHook(hook, context));
    if (request === null) return answered(result);
    const lists = request.listsIn(result);
    return { ...answered(withoutLists(result, lists)), lists, request: request.changes() };
  }

  #callHook(hook: HookName, context: object): unknown {
    return callMethod(this.#plugin?.hooks ?? {}, hook, [context]);
  }

  async #runTool(order: ToolOrder, { signal, onUpdate }: CallMeans): Promise<AnswerForm> {
    const tool = this.#tool(order.place);
    const { context } = this.#telling.tell(order.context, signal);
    if (order.hasUpdates) context['emitUpdate'] = onUpdate;
    const input = await parsedInput(tool, unpack(order.input));
    const result = await callMethod(tool, 'execute', [input, context]);
    // No process can hand its stream to another, and no model is shown more than its text.
    return answered(isStream(result) ? await readStream(result, signal) : result);
  }

  async #check(place: number, input: unknown): Promise<AnswerForm> {
    return answered(await issuesWith(this.#tool(place), input));
  }

  #tool(place: number): AgentTool {
    return this.#made?.tools[place] ?? nothingHere();
  }

  async #runCommand(place: number, input: string): Promise<AnswerForm> {
    const command = this.#made?.commands[place] ?? nothingHere();
    return answered(await callMethod(command, 'handler', [input]));
  }

  async #runRule(place: number): Promise<AnswerForm> {
    const rule = this.#made?.rules[place] ?? nothingHere();
    return answered(await callMethod(rule, 'content', []));
  }

  async #build({ place, messages }: Extract<Order, { type: 'build' }>): Promise<AnswerForm> {
    const builder = this.#made?.messageBuilders[place] ?? nothingHere();
    const known = this.#lists.take(messages);
    const given = structuredClone(known.items.slice(0, known.length));
    const built = await callMethod(builder, 'build', [given]);
    if (!Array.isArray(built)) return answered(built);
    return { ...answered(undefined), lists: { messages: packedChange(known, built).change } };
  }

  /** The last first; one that fails keeps none of the others from being done. */
  async #dispose(): Promise<AnswerForm> {
    const failures: string[] = [];
    for (const dispose of this.#disposals.splice(0).toReversed()) {
      try {
        await dispose();
      } catch (error) {
        failures.push(getErrorMessage(error));
      }
    }
    if (failures.length === 0) return answered(undefined);
    throw new HooklineError('PLUGIN_ENDED', { message: failures.join('; ') });
  }
}

function answered(value: unknown): AnswerForm {
  return { ok: true, value: pack(value) };
}

function nothingHere(): never {
  throw new HooklineError('PLUGIN_ENDED', { message: 'nothing of this plugin is here' });
}

function setGlobal(name: string, value: unknown): void {
  Reflect.set(globalThis, name, value);
}

/** Whether it is a good one, its host says. */
function isPlugin(value: unknown): value is AgentPlugin {
  return isRecord(value);
}

/** Those that go as changes need not go whole. */
function withoutLists(result: unknown, lists: ListChanges): unknown {
  if (!isRecord(result)) return result;
  return Object.fromEntries(Object.entries(result).filter(([key]) => !Object.hasOwn(lists, key)));
}
