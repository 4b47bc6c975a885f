import { isPromiseLike } from '../../base/callbacks.ts';
import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { startTimeLimit, waitOrAbort } from '../../base/abort.ts';
import type { FailurePolicy } from '../../hooks/decision.ts';
import type { EventName, HookEvent } from '../../hooks/facts.ts';
import type { Answer, Handler, HandlerInput } from '../../hooks/handler.ts';
import type { ActivePlugin } from '../../plugins/loaded-plugin.ts';
import { runAsPlugin } from '../../plugins/plugin-ownership.ts';
import type { AgentRuntimeHooks, HookName } from '../../plugins/contract/runtime-hooks.ts';
import type { PluginHooksOptions, PluginPorts } from '../ports.ts';
import {
  adviseOnFailure,
  readModelRequest,
  readRunStart,
  readModelResponse,
  readToolCall,
  readToolResult,
  warnAboutKeys,
} from './answers.ts';
import {
  createAfterModelContext,
  createAfterToolContext,
  createBeforeToolContext,
  type SharedCalls,
  createSharedCalls,
} from './contexts.ts';
import { createMutableRequest, type MutableRequest } from './mutable-request.ts';

/**
 * Creates handlers for the hooks of plugins, in the order of the plugins; each sees the changes of
 * those before it.
 */
export function createPluginHandlers(
  plugins: readonly ActivePlugin[],
  options: PluginHooksOptions,
): readonly Handler[] {
  const calls = createSharedCalls(options.ports);
  const services = { ...options, calls, mutableRequest: createMutableRequests(options.ports) };
  return plugins.flatMap((plugin) =>
    STAGES.filter((stage) => typeof stage.getHook(plugin) === 'function').flatMap((stage) =>
      stage.events.map((event) => new PluginHandler(plugin, stage, event, services)),
    ),
  );
}

interface HookServices extends PluginHooksOptions {
  readonly calls: SharedCalls;
  readonly mutableRequest: (event: HookEvent<'ModelRequest'>) => MutableRequest;
}

/** A hook of a plugin, with its events. */
interface Stage {
  readonly hook: Exclude<HookName, 'onEvent'>;
  readonly events: readonly EventName[];
  /** Returns the hook as it is after setup(), which may replace it. */
  getHook(active: ActivePlugin): unknown;
  createRun(active: ActivePlugin, services: HookServices): Handler['run'];
}

/** How a hook is called and its result read. */
interface HookProtocol<Argument> extends Pick<Stage, 'hook' | 'events'> {
  /** Prepares the argument of the hook; null when the event is not for it. */
  prepare(input: HandlerInput, services: HookServices, signal: AbortSignal): Argument | null;
  selectHook(hooks: Partial<AgentRuntimeHooks>): unknown;
  call(hooks: Partial<AgentRuntimeHooks>, argument: Argument): unknown;
  /** Reads its result. */
  read(result: unknown, argument: Argument): Answer | undefined;
  /** Whether it may change its argument in place, so that `read` runs even without a result. */
  readonly isLive?: true;
}

const STAGES: readonly Stage[] = [
  createStage({
    hook: 'beforeRun',
    events: ['RunStart'],
    prepare: ({ event }, { ports }) => ({ snapshot: ports.snapshot(event), cwd: event.cwd }),
    selectHook: (hooks) => hooks.beforeRun,
    call: (hooks, context) => hooks.beforeRun?.(context),
    read: readRunStart,
  }),
  createStage({
    hook: 'afterRun',
    events: ['RunEnd'],
    prepare({ event }, { ports }) {
      if (event.name !== 'RunEnd') return null;
      const result = ports.runResult(event);
      return { snapshot: ports.snapshot(event), result, cwd: event.cwd };
    },
    selectHook: (hooks) => hooks.afterRun,
    call: (hooks, context) => hooks.afterRun?.(context),
    read: () => undefined,
  }),
  createStage({
    hook: 'beforeModel',
    events: ['ModelRequest'],
    prepare({ event }, { ports, mutableRequest }, signal) {
      if (event.name !== 'ModelRequest') return null;
      const shared = mutableRequest(event);
      const request = { ...shared.copyForPlugin(), signal };
      const context = { snapshot: ports.snapshot(event), request, cwd: event.cwd };
      return { context, request, shared };
    },
    selectHook: (hooks) => hooks.beforeModel,
    call: (hooks, { context }) => hooks.beforeModel?.(context),
    read: (result, { request, shared }) => readModelRequest(result, request, shared),
    isLive: true,
  }),
  createStage({
    hook: 'afterModel',
    events: ['ModelResponse'],
    prepare({ event }, { ports }) {
      if (event.name !== 'ModelResponse') return null;
      const context = createAfterModelContext(event, ports);
      return { context, before: JSON.stringify(context.assistantMessage.content) };
    },
    selectHook: (hooks) => hooks.afterModel,
    call: (hooks, { context }) => hooks.afterModel?.(context),
    read: (result, { context, before }) =>
      readModelResponse(result, context.assistantMessage, before),
    isLive: true,
  }),
  createStage({
    hook: 'beforeTool',
    events: ['PreToolUse'],
    prepare: (input, { calls }) =>
      input.event.name === 'PreToolUse' ? createBeforeToolContext(input.event, input, calls) : null,
    selectHook: (hooks) => hooks.beforeTool,
    call: (hooks, context) => hooks.beforeTool?.(context),
    read: (result, { toolCall }) => readToolCall(result, toolCall.toolName),
  }),
  createStage({
    hook: 'afterTool',
    events: ['PostToolUse', 'PostToolUseFailure'],
    prepare(input, { calls }) {
      const { event } = input;
      if (event.name !== 'PostToolUse' && event.name !== 'PostToolUseFailure') return null;
      return createAfterToolContext(event, input, calls);
    },
    selectHook: (hooks) => hooks.afterTool,
    call: (hooks, context) => hooks.afterTool?.(context),
    read: readToolResult,
  }),
];

function createStage<Argument>(protocol: HookProtocol<Argument>): Stage {
  const { hook, events } = protocol;
  return {
    hook,
    events,
    getHook: ({ plugin }) => protocol.selectHook(plugin.hooks ?? {}),
    createRun: (active, services) => createRun(protocol, active, services),
  };
}

/** Returns synchronously when the hook does, because most hooks return nothing at once. */
function createRun<Argument>(
  protocol: HookProtocol<Argument>,
  active: ActivePlugin,
  services: HookServices,
): Handler['run'] {
  const { plugin, file } = active;
  const fail = (failure: HookFailure, signal: AbortSignal): Answer => {
    // The exit of its process is reported by the code that started it.
    if (signal.aborted || active.readExit() !== null) return { failure };
    const isGuard =
      services.failsClosed || shouldFailClosed(protocol.selectHook(plugin.hooks ?? {}));
    const hint = adviseOnFailure(protocol.hook, failure) ?? undefined;
    const reported = dropUndefined({ message: failure.message, hint });
    if (isGuard) active.reportFailure(protocol.hook, reported);
    else active.countFailure(protocol.hook, reported);
    return { failure };
  };
  const call = (argument: Argument): unknown => protocol.call(plugin.hooks ?? {}, argument);
  const read = (result: unknown, argument: Argument): Answer | undefined =>
    warnAboutKeys(protocol.hook, result, protocol.read(result, argument));
  return (input, signal) => {
    const argument = protocol.prepare(input, services, signal);
    if (argument === null) return undefined;
    try {
      const result = file !== null ? runAsPlugin(file, () => call(argument)) : call(argument);
      if (result === undefined && protocol.isLive === undefined) return undefined;
      if (!isPromiseLike(result)) return read(result, argument);
      return waitFor(result, services.timeoutMs, signal)
        .then(({ value, failure }) =>
          failure === null ? read(value, argument) : fail(failure, signal),
        )
        .catch((error: unknown) => fail(createThrownFailure(error), signal));
    } catch (error) {
      return fail(createThrownFailure(error), signal);
    }
  };
}

type HookFailure = NonNullable<Answer['failure']>;

function createThrownFailure(error: unknown): HookFailure {
  return { kind: 'threw', message: getErrorMessage(error) };
}

async function waitFor(work: PromiseLike<unknown>, timeoutMs: number, signal: AbortSignal) {
  const limit = startTimeLimit(signal, timeoutMs);
  try {
    return { value: await waitOrAbort(Promise.resolve(work), limit.signal), failure: null };
  } catch (error) {
    if (!limit.hasExpired()) return { value: null, failure: createThrownFailure(error) };
    const message = `did not answer within ${timeoutMs} ms`;
    const failure: HookFailure = { kind: 'timeout', message };
    return { value: null, failure };
  } finally {
    limit.clear();
  }
}

/** Plugins share one request per dispatch, so that each changes the result of the one before it. */
function createMutableRequests(ports: PluginPorts): HookServices['mutableRequest'] {
  const requests = new WeakMap<object, MutableRequest>();
  return (event) => {
    const key = typeof event.request === 'object' && event.request !== null ? event.request : event;
    const cached = requests.get(key);
    if (cached !== undefined) return cached;
    const { sessionId, iteration, agent } = event;
    const requester = { sessionId, iteration, agentId: agent.id, conversationId: sessionId };
    const { metadata, ...options } = ports.requestOptions?.(event) ?? {};
    const request = createMutableRequest(event.request, {
      ...options,
      metadata: { ...requester, ...(isRecord(metadata) ? metadata : {}) },
    });
    requests.set(key, request);
    return request;
  };
}

/** The handler of one plugin at one event. A class, because objects of one shape are faster to read. */
class PluginHandler implements Handler {
  readonly id: string;
  readonly dialect = 'plugin';
  readonly source: string;
  readonly event: EventName;
  readonly vocabulary = 'sdk';
  readonly inOrder = true;
  readonly isHanded = true;
  readonly run: Handler['run'];
  readonly fits: NonNullable<Handler['fits']>;
  readonly advise: NonNullable<Handler['advise']>;
  readonly #failsClosed: () => boolean;

  constructor(active: ActivePlugin, stage: Stage, event: EventName, services: HookServices) {
    const { name, process } = active;
    const { hook, events } = stage;
    this.id = `plugin:${name}:${hook}${events.length === 1 ? '' : `:${event}`}`;
    this.source = `the plugin ${name}`;
    this.event = event;
    this.run = stage.createRun(active, services);
    this.advise = (failure) => adviseOnFailure(hook, failure);
    this.fits = () => {
      if (process !== null && process.readExit() !== null && !this.#failsClosed()) {
        return `the process of ${name} has ended`;
      }
      return active.isOff(hook) && !this.#failsClosed()
        ? `${hook} of ${name} failed too often and is disabled`
        : null;
    };
    this.#failsClosed = () => services.failsClosed || shouldFailClosed(stage.getHook(active));
  }

  get onFailure(): FailurePolicy {
    return this.#failsClosed() ? 'closed' : 'open';
  }
}

/** A hook function may have `failClosed: true`, so that its failure refuses the action. */
function shouldFailClosed(hook: unknown): boolean {
  return typeof hook === 'function' && 'failClosed' in hook && hook.failClosed === true;
}
