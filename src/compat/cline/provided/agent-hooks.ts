import { dropUndefined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import type { Host } from '../../../host/create-host.ts';
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
export function createHookConfigFileHooks({ cwd, workspacePath }: HookRuntimeOptions): Hooks {
  let opening: Promise<Host> | null = null;
  const open = (): Promise<Host> =>
    (opening ??= import('../../../host/create-host.ts').then(({ createHost }) =>
      createHost({ cwd, ...(workspacePath === undefined ? {} : { roots: [workspacePath] }) }),
    ));
  const hooks: Hooks = {
    async beforeTool(context) {
      const { engine } = await open();
      const verdict = await engine.dispatch({ name: 'PreToolUse', tool: toCall(context) });
      const { input } = verdict;
      return { ...toAnswer(verdict), ...(input === null ? {} : { input }) };
    },
    async afterTool(context) {
      const { engine } = await open();
      return toAnswer(await engine.dispatch(toFinishedCall(context)));
    },
    async afterRun({ result: { status, outputText } }) {
      const { engine } = await open();
      if (status === 'completed') {
        await engine.dispatch({ name: 'TaskComplete', result: outputText });
      } else await engine.dispatch({ name: 'RunEnd', status, lastText: outputText });
    },
  };
  fileHooks.add(hooks);
  return hooks;
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
