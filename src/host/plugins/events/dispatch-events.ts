import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import type { AgentState, AgentTurn, PendingCall } from '../../../agent/session-context.ts';
import { isPromiseLike } from '../../../base/callbacks.ts';
import { dropUndefined } from '../../../base/defined.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { clampTimerDelay } from '../../../base/abort.ts';
import type { ActivePlugin } from '../../../plugins/loaded-plugin.ts';
import { runAsPlugin } from '../../../plugins/plugin-ownership.ts';
import type {
  AgentRuntimeEvent,
  AgentRuntimeEventBody,
  AgentToolCall,
} from '../../../plugins/contract/runtime-hooks.ts';
import { createResultMessage } from '../../../plugins/messages/agent-messages.ts';
import type { Message } from '../../../sessions/messages.ts';
import { findFailureClass, type Snapshots, toAgentUsage } from './snapshots.ts';
import {
  toFinishReason,
  toSdkCall,
  createToolSource,
} from '../../../plugins/messages/sdk-tool-names.ts';
import type { ServingModel } from './plugin-messages.ts';

type Of<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;

/** Passes events of the session to `onEvent` of every plugin, in order. */
export class EventDispatcher {
  readonly #plugins: readonly ActivePlugin[];
  readonly #snapshots: Snapshots;
  /** A slow listener is reported after this time; nothing waits for it. */
  readonly #timeoutMs: number;
  readonly #onEvent: ((event: AgentRuntimeEvent) => void) | undefined;
  /** The prompt of a session is there before its run; to an agent without one it is added. */
  readonly #isStandalone: boolean;
  readonly #updates = new Map<string, unknown>();
  /** Agents whose run beforeRun may still refuse. */
  readonly #unbegun = new Set<string>();
  /** Turns whose start was reported and whose end was not, by agent. */
  readonly #openTurns = new Map<string, AgentTurn>();
  /** Calls that beforeTool may still change, by agent. */
  readonly #undecidedCalls = new Map<string, Of<'tool-start'>>();
  /** Calls whose start was reported and whose end was not. */
  readonly #started = new Set<string>();

  constructor(
    plugins: readonly ActivePlugin[],
    snapshots: Snapshots,
    timeoutMs: number,
    onEvent?: (event: AgentRuntimeEvent) => void,
    isStandalone = false,
  ) {
    this.#plugins = plugins;
    this.#snapshots = snapshots;
    this.#timeoutMs = timeoutMs;
    this.#onEvent = onEvent;
    this.#isStandalone = isStandalone;
  }

  /** Stores a progress update with its original value; the agent reports it as text only. */
  keepUpdate(callId: string, update: unknown): void {
    this.#updates.set(callId, update);
  }

  dispatch(event: RuntimeEvent): void {
    const { agentId, parentAgentId, type } = event;
    const agent = this.#snapshots.findAgent(agentId, parentAgentId);
    const added = this.#snapshots.messages.recordEvent(event, agent);
    this.#begin(event, agent);
    this.#startAsked(event, agent);
    if (type === 'turn-start') this.endTurn(agentId, null);
    if (type === 'run-end') this.endTurn(agentId, event.result.ending);
    if (type === 'turn-start') this.#openTurns.set(agentId, agent.turn);
    const isFirst = type === 'turn-start' && event.iteration === 1;
    if (isFirst && this.#isStandalone) this.#forwardAdded(agent, added);
    if (type === 'tool-start' && event.isChecked !== true && this.#plugins.some(hasBeforeTool)) {
      this.#undecidedCalls.set(agentId, event);
      return;
    }
    // A call that was skipped because of an earlier one never started.
    if (type === 'tool-end' && !this.#started.delete(event.callId)) {
      this.#forward({ ...event, type: 'tool-start' }, agent);
      this.#started.delete(event.callId);
    }
    this.#forward(event, agent);
    if (type === 'turn-start' && event.iteration > 1) this.#forwardAdded(agent, added);
    if (type === 'tool-end') this.#updates.delete(event.callId);
  }

  /** Reports the start of a run once beforeRun has allowed it; a refused run is only reported as ended. */
  #begin({ type, agentId }: RuntimeEvent, agent: AgentState): void {
    const mayBegin = type !== 'run-start' && type !== 'hook';
    const begins = mayBegin && this.#unbegun.delete(agentId) && type !== 'run-end';
    if (begins) this.#notify({ type: 'run-started' }, agent, { ...RUNNING, iteration: 0 });
    if (type === 'run-start') this.#unbegun.add(agentId);
  }

  /** Reports the start of a call once hooks have decided on it, with the input that they set. */
  #startAsked(event: RuntimeEvent, agent: AgentState): void {
    const call = this.#undecidedCalls.get(event.agentId);
    const decision = call === undefined ? null : findDecidedInput(event, call);
    if (call === undefined || decision === null) return;
    this.#undecidedCalls.delete(event.agentId);
    this.#forward({ ...call, input: decision.input }, agent);
  }

  /**
   * Reports the end of an agent's turn, if there is one: its calls belong to it until the next begins. A
   * turn that the ending of its run cut short is not reported; the ending is null when the run goes on.
   */
  endTurn(agentId: string, ending: string | null): void {
    const turn = this.#openTurns.get(agentId);
    if (turn === undefined) return;
    this.#openTurns.delete(agentId);
    if (ending !== null && !WHOLE_TURN_ENDINGS.includes(ending)) return;
    const { iteration, toolCalls: toolCallCount } = turn;
    const agent = this.#snapshots.findAgent(agentId);
    const event = { type: 'turn-finished', iteration, toolCallCount } as const;
    this.#notify(event, agent, { ...RUNNING, iteration });
  }

  /** Forwards messages of the user or a hook between two turns; answers and results are forwarded as they come. */
  #forwardAdded(agent: AgentState, messages: readonly Message[]): void {
    for (const added of messages) {
      const isText =
        added.role === 'user' && added.content.every(({ type }) => type !== 'tool_result');
      const message = isText ? this.#snapshots.messages.convert(added) : null;
      if (message !== null) this.#notify({ type: 'message-added', message }, agent);
    }
  }

  #forward(event: RuntimeEvent, agent: AgentState): void {
    if (event.type === 'tool-start') this.#started.add(event.callId);
    for (const body of this.#convert(event, agent)) {
      if (body.type === 'message-added' && event.type === 'tool-end') {
        this.#snapshots.recordResult(agent, body.message);
      }
      this.#notify(body, agent);
    }
  }

  #notify(
    body: AgentRuntimeEventBody,
    agent: AgentState,
    at?: Parameters<Snapshots['take']>[1],
  ): void {
    const event = { ...body, snapshot: this.#snapshots.take(agent, at) };
    this.#onEvent?.(event);
    for (const plugin of this.#plugins) notifyPlugin(plugin, event, this.#timeoutMs);
  }

  /** Converts an event of the agent to events of Cline's runtime: none, one or several. */
  #convert(event: RuntimeEvent, agent: AgentState): readonly AgentRuntimeEventBody[] {
    const { turn } = agent;
    const { iteration } = turn;
    switch (event.type) {
      case 'turn-start':
        return [{ type: 'turn-started', iteration }];
      case 'text-delta': {
        const { text } = event;
        return [{ type: 'assistant-text-delta', iteration, text, accumulatedText: turn.text }];
      }
      case 'thinking-delta': {
        const { text } = event;
        const accumulatedText = turn.thinking;
        return [{ type: 'assistant-reasoning-delta', iteration, text, accumulatedText }];
      }
      case 'turn-end': {
        const usage = toAgentUsage(this.#snapshots.computeUsage(agent));
        return [{ type: 'usage-updated', usage }];
      }
      case 'message-end': {
        const message = this.#snapshots.messages.convert(event.message);
        if (message === null) return [];
        const finishReason = toFinishReason(turn.finishReason ?? 'stop');
        return [
          { type: 'message-added', message },
          { type: 'assistant-message', iteration, message, finishReason },
        ];
      }
      case 'media':
        return [{ type: 'assistant-media', iteration, media: { ...event.media } }];
      case 'model-tool':
        return [this.#convertModelTool(event, iteration)];
      case 'tool-start':
      case 'tool-delta':
      case 'tool-end':
        return this.#convertToolEvent(event, agent);
      case 'run-end': {
        const result = this.#snapshots.createResult(agent, event.result);
        const { error } = result;
        if (error === undefined) return [{ type: 'run-finished', result }];
        return [
          { type: 'run-failed', error, ...dropUndefined({ errorClass: findFailureClass(agent) }) },
        ];
      }
      default:
        return convertNotice(event);
    }
  }

  #convertModelTool(
    { phase, activity }: Of<'model-tool'>,
    iteration: number,
  ): AgentRuntimeEventBody {
    const { input, output, isError, ...call } = activity;
    const toolCall: AgentToolCall = { type: 'tool-call', ...call, input };
    if (phase === 'start') return { type: 'tool-started', iteration, toolCall };
    const part = { type: 'tool-result', ...call, output, ...dropUndefined({ isError }) } as const;
    const { createdAt } = this.#snapshots.messages.createNote();
    const message = createResultMessage(part, createdAt);
    return { type: 'tool-finished', iteration, toolCall, message };
  }

  #convertToolEvent(
    event: Of<'tool-start' | 'tool-delta' | 'tool-end'>,
    agent: AgentState,
  ): readonly AgentRuntimeEventBody[] {
    const { iteration } = agent.turn;
    const { callId } = event;
    const { messages } = this.#snapshots;
    const model = messages.findModel(agent);
    if (event.type === 'tool-delta') {
      const call = agent.pendingCalls.get(callId) ?? { name: '', input: undefined };
      const update = this.#updates.get(callId) ?? event.text;
      return [
        { type: 'tool-updated', iteration, toolCall: toToolCall(callId, call, model), update },
      ];
    }
    const toolCall = toToolCall(callId, { name: event.tool, input: event.input }, model);
    if (event.type === 'tool-start') return [{ type: 'tool-started', iteration, toolCall }];
    const message = messages.convertResult(event);
    return [
      { type: 'tool-finished', iteration, toolCall, message },
      { type: 'message-added', message },
    ];
  }
}

/** Endings of runs that come after a whole turn. */
const WHOLE_TURN_ENDINGS: readonly string[] = ['done', 'max_turns', 'loop', 'tool_deferred'];

/** The state of a run that has begun, whatever the agent's current state is. */
const RUNNING = { status: 'running', role: null } as const;

function hasBeforeTool(active: ActivePlugin): boolean {
  const { plugin } = active;
  const asks = typeof plugin.hooks?.beforeTool === 'function' && !active.isOff('beforeTool');
  return asks && active.readExit() === null;
}

/** The input of a call once it is decided; null before. */
function findDecidedInput(
  event: RuntimeEvent,
  { callId, input }: Of<'tool-start'>,
): { readonly input: unknown } | null {
  switch (event.type) {
    case 'hook':
      if (event.verdict.event !== 'PreToolUse') return null;
      return { input: event.verdict.input ?? input };
    case 'tool-delta':
      return event.callId === callId ? { input } : null;
    case 'tool-end':
      return event.callId === callId ? { input: event.input } : null;
    case 'run-end':
      return { input };
    default:
      return null;
  }
}

/** Calls the listener of one plugin without waiting for it; its failure affects nothing else. */
function notifyPlugin(active: ActivePlugin, event: AgentRuntimeEvent, timeoutMs: number): void {
  const { plugin, file, process } = active;
  const hooks = plugin.hooks ?? {};
  if (typeof hooks.onEvent !== 'function' || active.isOff('onEvent')) return;
  if (active.readExit() !== null) return;
  // The exit of its process is reported elsewhere.
  const fail = (message: string): void => {
    if (active.readExit() === null) active.countFailure('onEvent', { message });
  };
  try {
    const result: unknown = runAsPlugin(file, () => hooks.onEvent?.(event));
    if (!isPromiseLike(result)) return;
    // For an isolated plugin the promise only reports failures; the forwarder enforces its time limit.
    watchAnswer(result, process === null ? timeoutMs : Number.POSITIVE_INFINITY, fail);
  } catch (error) {
    fail(getErrorMessage(error));
  }
}

/** Calls `fail` once when the listener failed, or took too long. */
function watchAnswer(
  answer: PromiseLike<unknown>,
  timeoutMs: number,
  fail: (message: string) => void,
): void {
  let isOver = false;
  const end = (message: string | null): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (message !== null) fail(message);
  };
  const reportTimeout = (): void => end(`did not answer within ${timeoutMs} ms`);
  const timer = setTimeout(reportTimeout, clampTimerDelay(timeoutMs)).unref();
  Promise.resolve(answer).then(
    () => end(null),
    (error: unknown) => end(getErrorMessage(error)),
  );
}

function toToolCall(
  toolCallId: string,
  pending: PendingCall,
  model: ServingModel | null,
): AgentToolCall {
  const { name: toolName, input } = toSdkCall(pending);
  return {
    type: 'tool-call',
    toolCallId,
    toolName,
    input,
    ...(model === null ? {} : { metadata: { toolSource: createToolSource(model) } }),
  };
}

function convertNotice(event: RuntimeEvent): readonly AgentRuntimeEventBody[] {
  switch (event.type) {
    case 'notice':
      return [
        {
          type: 'status-notice',
          message: event.text,
          metadata: { kind: 'notice', level: event.level },
        },
      ];
    case 'retry-start': {
      const { failure, waitMs } = event;
      const metadata = { kind: 'provider_error_retry', waitMs };
      return [{ type: 'status-notice', message: failure.message, metadata }];
    }
    case 'compaction-start':
      return [
        {
          type: 'status-notice',
          message: 'compacting the conversation',
          metadata: { kind: 'compaction' },
        },
      ];
    default:
      return [];
  }
}
