import { messageOf } from '../../base/errors.ts';
import { limitTime } from '../../base/time-limit.ts';
import { untilAborted } from '../../base/until-aborted.ts';
import type { EventName, HookEvent } from '../../hooks/facts.ts';
import type { Answer, Handler, HandlerInput } from '../../hooks/handler.ts';
import type { ActivePlugin } from '../../plugins/registry.ts';
import type { HookName } from '../../plugins/contract/runtime-hooks.ts';
import {
  readModelRequest,
  readRunStart,
  readStop,
  readToolCall,
  readToolResult,
} from './answers.ts';
import {
  afterModelContext,
  afterToolContext,
  beforeToolContext,
  type PluginPorts,
} from './contexts.ts';
import { createLiveRequest, type LiveRequest } from './live-request.ts';

export interface PluginHooksOptions {
  readonly ports: PluginPorts;
  /** What fails refuses what it was asked about, and nothing is switched off. */
  readonly failsClosed: boolean;
  /** How long one hook may take. */
  readonly timeoutMs: number;
}

/** The hooks of plugins as handlers: in the order of the plugins, each seeing what those before it changed. */
export function pluginHandlers(
  plugins: readonly ActivePlugin[],
  options: PluginHooksOptions,
): readonly Handler[] {
  const live = createLiveRequests();
  return plugins.flatMap((plugin) =>
    STAGES.filter(({ hook }) => hasHook(plugin, hook)).flatMap((stage) =>
      stage.events.map((event) => handlerFor(plugin, { stage, event }, { ...options, live })),
    ),
  );
}

/** As it is after setup, which may have put others in their place. */
function hasHook({ plugin }: ActivePlugin, hook: HookName): boolean {
  return typeof plugin.hooks?.[hook] === 'function';
}

interface Means extends PluginHooksOptions {
  readonly live: (event: HookEvent<'ModelRequest'>) => LiveRequest;
}

/** A hook of a plugin, when it is called, and how it is spoken with. */
interface Stage {
  readonly hook: Exclude<HookName, 'onEvent'>;
  readonly events: readonly EventName[];
  /** What the hook is called with, and how its result is read. */
  speak(input: HandlerInput, means: Means): Spoken | null;
}

interface Spoken {
  readonly context: object;
  read(result: unknown): Answer | undefined;
}

const STAGES: readonly Stage[] = [
  {
    hook: 'beforeRun',
    events: ['RunStart'],
    speak: ({ event }, { ports }) => ({
      context: { snapshot: ports.snapshot(event) },
      read: readRunStart,
    }),
  },
  {
    hook: 'afterRun',
    events: ['RunEnd'],
    speak({ event }, { ports }) {
      if (event.name !== 'RunEnd') return null;
      const context = { snapshot: ports.snapshot(event), result: ports.runResult(event) };
      return { context, read: () => undefined };
    },
  },
  {
    hook: 'beforeModel',
    events: ['ModelRequest'],
    speak({ event }, { ports, live }) {
      if (event.name !== 'ModelRequest') return null;
      const shared = live(event);
      const request = shared.hand();
      return {
        context: { snapshot: ports.snapshot(event), request },
        read: (result) => readModelRequest(result, request, shared),
      };
    },
  },
  {
    hook: 'afterModel',
    events: ['ModelResponse'],
    speak({ event }, { ports }) {
      if (event.name !== 'ModelResponse') return null;
      return { context: afterModelContext(event, ports), read: readStop };
    },
  },
  {
    hook: 'beforeTool',
    events: ['PreToolUse'],
    speak(input, { ports }) {
      const { event } = input;
      if (event.name !== 'PreToolUse') return null;
      const context = beforeToolContext(event, input, ports);
      return { context, read: (result) => readToolCall(result, context.toolCall.toolName) };
    },
  },
  {
    hook: 'afterTool',
    events: ['PostToolUse', 'PostToolUseFailure'],
    speak(input, { ports }) {
      const { event } = input;
      if (event.name !== 'PostToolUse' && event.name !== 'PostToolUseFailure') return null;
      return { context: afterToolContext(event, input, ports), read: readToolResult };
    },
  },
];

/** Plugins share the request of one dispatch, so that each changes what the one before it left. */
function createLiveRequests(): Means['live'] {
  const requests = new WeakMap<object, LiveRequest>();
  return (event) => {
    const key = typeof event.request === 'object' && event.request !== null ? event.request : event;
    const known = requests.get(key);
    if (known !== undefined) return known;
    const { sessionId, iteration, agent } = event;
    const metadata = { sessionId, iteration, agentId: agent.id, conversationId: sessionId };
    const made = createLiveRequest(event.request, metadata);
    requests.set(key, made);
    return made;
  };
}

interface Moment {
  readonly stage: Stage;
  readonly event: EventName;
}

function handlerFor(active: ActivePlugin, { stage, event }: Moment, means: Means): Handler {
  const { name, health } = active;
  const { hook } = stage;
  return {
    id: `plugin:${name}:${hook}${stage.events.length === 1 ? '' : `:${event}`}`,
    dialect: 'plugin',
    source: `the plugin ${name}`,
    event,
    vocabulary: 'sdk',
    get onFailure() {
      return failsClosed(active, hook, means) ? 'closed' : 'open';
    },
    inOrder: true,
    fits() {
      const isOff = health.isOff(hook) && !failsClosed(active, hook, means);
      return isOff ? `${hook} of ${name} failed too often and is switched off` : null;
    },
    run: (input, signal) => ask(active, stage, { input, signal, means }),
  };
}

/** A hook may say of itself that what it could not look at must not pass. */
function failsClosed({ plugin }: ActivePlugin, hook: HookName, means: Means): boolean {
  const asked: unknown = plugin.hooks?.[hook];
  const isOwnWish = typeof asked === 'function' && Reflect.get(asked, 'failClosed') === true;
  return means.failsClosed || isOwnWish;
}

interface Asking {
  readonly input: HandlerInput;
  readonly signal: AbortSignal;
  readonly means: Means;
}

/** Answers at once when the hook does: most of them look and say nothing. */
function ask(
  active: ActivePlugin,
  stage: Stage,
  { input, signal, means }: Asking,
): Answer | undefined | Promise<Answer | undefined> {
  const { plugin, health } = active;
  const { hook } = stage;
  const spoken = stage.speak(input, means);
  if (spoken === null) return undefined;
  try {
    const hooks = plugin.hooks ?? {};
    const result: unknown = Reflect.apply(hooks[hook] ?? (() => undefined), hooks, [
      spoken.context,
    ]);
    if (!isPromiseLike(result)) return spoken.read(result);
    return waitFor(result, { signal, timeoutMs: means.timeoutMs })
      .then((settled) => (settled.failure === null ? spoken.read(settled.value) : failed(settled)))
      .catch((error: unknown) => failed(thrown(error)));
  } catch (error) {
    return failed(thrown(error));
  }

  function failed({ failure }: Pick<FailedWait, 'failure'>): Answer {
    if (!signal.aborted) health.strike(hook, failure.message);
    return { failure };
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

interface Wait {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

function thrown(error: unknown): FailedWait {
  return { failure: { kind: 'threw', message: messageOf(error) } };
}

interface FailedWait {
  readonly failure: { readonly kind: 'threw' | 'timeout'; readonly message: string };
}

async function waitFor(
  work: PromiseLike<unknown>,
  { signal, timeoutMs }: Wait,
): Promise<FailedWait | { readonly failure: null; readonly value: unknown }> {
  const limit = limitTime(signal, timeoutMs);
  try {
    return { failure: null, value: await untilAborted(Promise.resolve(work), limit.signal) };
  } catch (error) {
    if (!limit.isOver()) return thrown(error);
    const message = `did not answer within ${timeoutMs} ms`;
    return { failure: { kind: 'timeout', message } };
  } finally {
    limit.clear();
  }
}
