import { dropUndefined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import type { Host } from '../../../host/create-host.ts';
import type { HookEngine } from '../../../hooks/engine.ts';
import { isRefusal, joinContexts, type Verdict } from '../../../hooks/decision.ts';
import type {
  AgentAfterToolContext,
  AgentBeforeToolContext,
  AgentRuntimeHooks,
} from '../../../plugins/contract/runtime-hooks.ts';

type Hooks = Partial<AgentRuntimeHooks>;

/** Hooks that run file hooks, and the layers of merged hooks: a session runs file hooks by itself. */
const fileHooks = new WeakSet<Hooks>();
const mergedLayers = new WeakMap<Hooks, readonly Hooks[]>();

/** Joins hooks, which run in this order; of an answer the later fields win, and the first stop ends the chain. */
export function mergeAgentHooks(layers: readonly (Hooks | undefined)[]): Hooks | undefined {
  const hooks = layers.filter((layer) => layer !== undefined);
  if (hooks.length === 0) return undefined;
  const has = (name: keyof AgentRuntimeHooks): boolean =>
    hooks.some((layer) => typeof layer[name] === 'function');
  const merged: Hooks = {
    ...(has('beforeRun') ? { beforeRun: (context) => chain(hooks, 'beforeRun', context) } : {}),
    ...(has('afterRun') ? { afterRun: (context) => chain(hooks, 'afterRun', context) } : {}),
    ...(has('onEvent') ? { onEvent: (event) => chain(hooks, 'onEvent', event) } : {}),
    ...(has('beforeModel')
      ? { beforeModel: (context) => chain(hooks, 'beforeModel', context) }
      : {}),
    ...(has('afterModel') ? { afterModel: (context) => chain(hooks, 'afterModel', context) } : {}),
    ...(has('beforeTool') ? { beforeTool: (context) => chain(hooks, 'beforeTool', context) } : {}),
    ...(has('afterTool') ? { afterTool: (context) => chain(hooks, 'afterTool', context) } : {}),
  };
  mergedLayers.set(merged, hooks);
  return merged;
}

/** Each hook gets what those before it answered: the input of a call, its result, the request. */
async function chain(
  layers: readonly Hooks[],
  name: keyof AgentRuntimeHooks,
  context: object,
): Promise<Record<string, unknown> | undefined> {
  const answers: Record<string, unknown>[] = [];
  const current = { ...context };
  for (const layer of layers) {
    const hook: unknown = layer[name];
    if (typeof hook !== 'function') continue;
    const result: unknown = await Reflect.apply(hook, layer, [{ ...current }]);
    if (!isRecord(result)) continue;
    answers.push(result);
    if (result['stop'] === true || result['skip'] === true) break;
    Object.assign(current, pickChained(current, result));
  }
  if (answers.length === 0) return undefined;
  const answer: Record<string, unknown> = {};
  for (const each of [...answers, mergeContexts(answers)]) Object.assign(answer, each);
  return answer;
}

function mergeContexts(answers: readonly Record<string, unknown>[]) {
  const texts = answers
    .map(({ appendContext }) => appendContext)
    .filter((text) => typeof text === 'string')
    .filter((text) => text.trim() !== '');
  return texts.length === 0 ? {} : { appendContext: joinContexts(texts) };
}

function pickChained(context: object, answer: Record<string, unknown>): object {
  const { input, result, messages, tools, options } = answer;
  const request = 'request' in context && isRecord(context.request) ? context.request : null;
  const changes = dropUndefined({ messages, tools, options });
  return {
    ...dropUndefined({ input, result }),
    ...(request === null ? {} : { request: { ...request, ...changes } }),
  };
}

export interface HookRuntimeOptions {
  cwd: string;
  workspacePath?: string;
  [further: string]: unknown;
}

/**
 * Hooks that run the trusted file hooks of a workspace, for an agent without a session; sessions of `ClineCore`
 * run them by themselves, and ignore these.
 */
export function createHookConfigFileHooks(options: HookRuntimeOptions): Hooks {
  const host = new SharedHost(options);
  const hooks: Hooks = {
    // The host stays open from the beginning of a run to its end, so that its hooks see one session.
    beforeRun: () => host.hold(),
    beforeTool: (context) =>
      host.use(async (engine) => {
        const verdict = await engine.dispatch({ name: 'PreToolUse', tool: toCall(context) });
        const { input } = verdict;
        return { ...toAnswer(verdict), ...(input === null ? {} : { input }) };
      }),
    afterTool: (context) =>
      host.use(async (engine) => toAnswer(await engine.dispatch(toFinishedCall(context)))),
    async afterRun({ result: { status, outputText } }) {
      try {
        await host.use((engine) =>
          status === 'completed'
            ? engine.dispatch({ name: 'TaskComplete', result: outputText })
            : engine.dispatch({ name: 'RunEnd', status, lastText: outputText }),
        );
      } finally {
        host.release();
      }
    },
  };
  fileHooks.add(hooks);
  return hooks;
}

/** The host of hooks that belong to no session: opened on first use, closed when nobody uses it any more. */
class SharedHost {
  readonly #options: HookRuntimeOptions;
  #opening: Promise<Host> | null = null;
  #runs = 0;
  #calls = 0;

  constructor(options: HookRuntimeOptions) {
    this.#options = options;
  }

  hold(): void {
    this.#runs += 1;
  }

  /** Several runs may share the hooks. A run whose beginning another layer refused has held nothing. */
  release(): void {
    this.#runs = Math.max(0, this.#runs - 1);
    this.#closeUnused();
  }

  async use<Result>(work: (engine: HookEngine) => Promise<Result>): Promise<Result> {
    this.#calls += 1;
    try {
      const { engine } = await (this.#opening ??= openHost(this.#options));
      return await work(engine);
    } finally {
      this.#calls -= 1;
      this.#closeUnused();
    }
  }

  #closeUnused(): void {
    if (this.#runs > 0 || this.#calls > 0) return;
    const opening = this.#opening;
    this.#opening = null;
    // Not awaited: hooks in the background have their own time limits, and the agent need not wait for them.
    void opening?.then(closeWhenIdle).catch(() => undefined);
  }
}

async function openHost({ cwd, workspacePath }: HookRuntimeOptions): Promise<Host> {
  const { createHost } = await import('../../../host/create-host.ts');
  return createHost({ cwd, ...(workspacePath === undefined ? {} : { roots: [workspacePath] }) });
}

async function closeWhenIdle(host: Host): Promise<void> {
  await host.engine.idle();
  await host.dispose();
}

/** The hooks for a session, which runs file hooks by itself: they must not run twice. */
export function removeFileHooks(hooks: Hooks): Hooks | undefined {
  if (fileHooks.has(hooks)) return undefined;
  const layers = mergedLayers.get(hooks);
  return layers === undefined ? hooks : mergeAgentHooks(layers.map(removeFileHooks));
}

function toCall({
  toolCall: { toolCallId: callId, toolName: name },
  input,
}: AgentBeforeToolContext) {
  return { callId, name, input };
}

function toFinishedCall(context: AgentAfterToolContext) {
  const { result, durationMs } = context;
  const text = typeof result.output === 'string' ? result.output : JSON.stringify(result.output);
  const success = result.isError !== true;
  return {
    name: success ? ('PostToolUse' as const) : ('PostToolUseFailure' as const),
    tool: toCall(context),
    result: {
      response: result.output,
      text: text ?? '',
      success,
      ...(success ? {} : { error: text ?? '' }),
    },
    durationMs,
  };
}

function toAnswer({ effect, stop, reasons, context }: Verdict) {
  const reason = stop?.reason ?? reasons.map(({ text }) => text).join('\n');
  const appendContext = joinContexts(context.map(({ text }) => text));
  return {
    ...(stop === null ? {} : { stop: true, reason }),
    ...(isRefusal(effect) && stop === null ? { skip: true, reason } : {}),
    ...(effect === 'ask' ? { policy: { autoApprove: false } } : {}),
    ...(appendContext === '' ? {} : { appendContext }),
  };
}
