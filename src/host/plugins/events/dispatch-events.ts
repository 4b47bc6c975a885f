import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { clampTimerDelay } from '../../../base/time-limit.ts';
import type { ActivePlugin } from '../../../plugins/loaded-plugin.ts';
import { runAsPlugin } from '../../../plugins/plugin-ownership.ts';
import type {
  AgentRuntimeEvent,
  AgentRuntimeNews,
  AgentToolCall,
} from '../../../plugins/contract/runtime-hooks.ts';
import type { Message } from '../../../sessions/messages.ts';
import type { AgentStates, AgentState } from './agent-state.ts';
import { type Snapshots, toAgentUsage } from './snapshots.ts';
import {
  toFinishReason,
  toSdkCall,
  createToolSource,
} from '../../../plugins/messages/sdk-tool-names.ts';
import type { ServingModel } from './plugin-messages.ts';

interface DispatcherOptions {
  readonly plugins: readonly ActivePlugin[];
  readonly mirror: AgentStates;
  readonly snapshots: Snapshots;
  /** How long a listener may take; nobody waits for it, but it is told of. */
  readonly timeoutMs: number;
  readonly onNews?: (event: AgentRuntimeEvent) => void;
}

export interface EventDispatcher {
  dispatch(event: RuntimeEvent): void;
  /** The turn that an agent is in, if any, is over; calls belong to their turn, so that nobody knows before. */
  endTurn(agentId: string): void;
  /** What a tool says of how far it is, before it tells the agent so in text. */
  noteUpdate(callId: string, update: unknown): void;
}

/** Tells the onEvent of every plugin what happens, in order. */
export function createEventDispatcher(means: DispatcherOptions): EventDispatcher {
  return new OrderedDispatcher(means);
}

type ToolStart = Extract<RuntimeEvent, { type: 'tool-start' }>;

class OrderedDispatcher implements EventDispatcher {
  readonly #means: DispatcherOptions;
  readonly #updates = new Map<string, unknown>();
  /** Agents whose run may still be refused by beforeRun. */
  readonly #unbegun = new Set<string>();
  readonly #inTurn = new Set<string>();
  /** Calls of which beforeTool may still make others, by their agents. */
  readonly #asked = new Map<string, ToolStart>();

  constructor(means: DispatcherOptions) {
    this.#means = means;
  }

  noteUpdate(callId: string, update: unknown): void {
    this.#updates.set(callId, update);
  }

  dispatch(event: RuntimeEvent): void {
    const { mirror, snapshots } = this.#means;
    const agent = mirror.agent(event.agentId, event.parentAgentId);
    const said = snapshots.told.see(event);
    const isUntold = event.type === 'tool-end' && !agent.pending.has(event.callId);
    this.#begin(event);
    this.#startAsked(event);
    if (event.type === 'turn-start' || event.type === 'run-end') this.endTurn(event.agentId);
    mirror.apply(event);
    if (event.type === 'turn-start') this.#inTurn.add(event.agentId);
    if (event.type === 'tool-start' && this.#means.plugins.some(hasBeforeTool)) {
      this.#asked.set(event.agentId, event);
      return;
    }
    // A call that was left out because of one before it.
    if (isUntold) this.#tellOf({ ...event, type: 'tool-start' });
    this.#tellOf(event);
    if (event.type === 'turn-start' && event.iteration > 1) this.#tellSaid(event.agentId, said);
    if (event.type === 'tool-end') this.#updates.delete(event.callId);
  }

  /** A run has begun when beforeRun let it; one that it did not let begin only ends. */
  #begin({ type, agentId }: RuntimeEvent): void {
    const mayBegin = type !== 'run-start' && type !== 'hook';
    const begins = mayBegin && this.#unbegun.delete(agentId) && type !== 'run-end';
    if (begins) this.#tell(agentId, { type: 'run-started' });
    if (type === 'run-start') this.#unbegun.add(agentId);
  }

  /** A call starts when hooks have said what becomes of it: with the input that they gave it. */
  #startAsked(event: RuntimeEvent): void {
    const asked = this.#asked.get(event.agentId);
    const given = asked === undefined ? null : findGivenInput(event, asked);
    if (asked === undefined || given === null) return;
    this.#asked.delete(event.agentId);
    const { mirror } = this.#means;
    const { callId, tool } = asked;
    mirror.agent(event.agentId).pending.set(callId, { tool, input: given.input });
    this.#tellOf({ ...asked, input: given.input });
  }

  endTurn(agentId: string): void {
    if (!this.#inTurn.delete(agentId)) return;
    const { iteration, calls: toolCallCount } = this.#means.mirror.agent(agentId);
    this.#tell(agentId, { type: 'turn-finished', iteration, toolCallCount });
  }

  /** What a person or a hook said between two turns; answers and results are told of as they come. */
  #tellSaid(agentId: string, messages: readonly Message[]): void {
    for (const message of messages) {
      const isWords =
        message.role === 'user' && message.content.every(({ type }) => type === 'text');
      const told = isWords ? this.#means.snapshots.told.one(message) : null;
      if (told !== null) this.#tell(agentId, { type: 'message-added', message: told });
    }
  }

  #tellOf(event: RuntimeEvent): void {
    const { mirror, snapshots } = this.#means;
    const agent = mirror.agent(event.agentId);
    const updateOf = (callId: string): unknown => this.#updates.get(callId);
    for (const news of toRuntimeEvents(event, { agent, snapshots, updateOf })) {
      this.#tell(event.agentId, news);
    }
  }

  #tell(agentId: string, news: AgentRuntimeNews): void {
    notifyAll(this.#means, { ...news, snapshot: this.#means.snapshots.of(agentId) });
  }
}

function hasBeforeTool(active: ActivePlugin): boolean {
  const { plugin } = active;
  const asks = typeof plugin.hooks?.beforeTool === 'function' && !active.isOff('beforeTool');
  return asks && active.readExit() === null;
}

/** What the call is made with, once that is known; null before. */
function findGivenInput(
  event: RuntimeEvent,
  { callId, input }: ToolStart,
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

function notifyAll(
  { plugins, timeoutMs, onNews }: DispatcherOptions,
  told: AgentRuntimeEvent,
): void {
  onNews?.(told);
  for (const plugin of plugins) notifyPlugin(plugin, told, timeoutMs);
}

/** What one of them does wrong is its own; nobody waits for any of them. */
function notifyPlugin(active: ActivePlugin, event: AgentRuntimeEvent, timeoutMs: number): void {
  const { plugin, file, process } = active;
  const hooks = plugin.hooks ?? {};
  if (typeof hooks.onEvent !== 'function' || active.isOff('onEvent')) return;
  if (active.readExit() !== null) return;
  // That its process has ended is told by whoever started it.
  const fail = (message: string): void => {
    if (active.readExit() === null) active.countFailure('onEvent', message);
  };
  try {
    const result: unknown = runAsPlugin(file, () => hooks.onEvent?.(event));
    if (!isPromiseLike(result)) return;
    // One that lives elsewhere says only when it has failed; how long it takes is looked after there.
    watchAnswer(result, process === null ? timeoutMs : Number.POSITIVE_INFINITY, fail);
  } catch (error) {
    fail(getErrorMessage(error));
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return isRecord(value) && 'then' in value;
}

/** Tells once when it failed, or took too long. */
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
  const tooLate = (): void => end(`did not answer within ${timeoutMs} ms`);
  const timer = setTimeout(tooLate, clampTimerDelay(timeoutMs)).unref();
  Promise.resolve(answer).then(
    () => end(null),
    (error: unknown) => end(getErrorMessage(error)),
  );
}

/** What plugins hear of an event; `agent` is as the event left it. */
interface NewsMeans {
  readonly agent: AgentState;
  readonly snapshots: Snapshots;
  /** What the tool of this call said last of how far it is, where it is more than text. */
  readonly updateOf: (callId: string) => unknown;
}

/** One event of the agent in the words of Cline's runtime: none, one or several. */
function toRuntimeEvents(event: RuntimeEvent, means: NewsMeans): readonly AgentRuntimeNews[] {
  const { agent } = means;
  const { iteration } = agent;
  switch (event.type) {
    case 'turn-start':
      return [{ type: 'turn-started', iteration }];
    case 'text-delta': {
      const { text } = event;
      return [{ type: 'assistant-text-delta', iteration, text, accumulatedText: agent.text }];
    }
    case 'thinking-delta': {
      const { text } = event;
      const accumulatedText = agent.thinking;
      return [{ type: 'assistant-reasoning-delta', iteration, text, accumulatedText }];
    }
    case 'turn-end':
      return [{ type: 'usage-updated', usage: toAgentUsage(agent.usage) }];
    case 'message-end':
      return toAnswerEvents(event.message, means);
    case 'tool-start':
    case 'tool-delta':
    case 'tool-end':
      return toToolEvents(event, means);
    case 'run-end':
      return toEndEvents(event, means);
    default:
      return toNoticeEvents(event);
  }
}

type Of<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;

function toAnswerEvents(
  answer: Of<'message-end'>['message'],
  { agent: { iteration, finishReason }, snapshots }: NewsMeans,
): readonly AgentRuntimeNews[] {
  const message = snapshots.told.one(answer);
  if (message === null) return [];
  return [
    { type: 'message-added', message },
    { type: 'assistant-message', iteration, message, finishReason: toFinishReason(finishReason) },
  ];
}

function toToolEvents(
  event: Of<'tool-start' | 'tool-delta' | 'tool-end'>,
  { agent, updateOf, snapshots }: NewsMeans,
): readonly AgentRuntimeNews[] {
  const { iteration } = agent;
  const { callId } = event;
  const model = snapshots.told.modelOf(agent);
  if (event.type === 'tool-delta') {
    const { tool, input } = agent.pending.get(callId) ?? { tool: '', input: undefined };
    const update = updateOf(callId) ?? event.text;
    const toolCall = toToolCall({ callId, tool, input }, model);
    return [{ type: 'tool-updated', iteration, toolCall, update }];
  }
  const toolCall = toToolCall(event, model);
  if (event.type === 'tool-start') return [{ type: 'tool-started', iteration, toolCall }];
  const message = snapshots.told.result(event);
  return [
    { type: 'tool-finished', iteration, toolCall, message },
    { type: 'message-added', message },
  ];
}

type ToldCall = Pick<Of<'tool-start'>, 'callId' | 'tool' | 'input'>;

function toToolCall({ callId, tool, input }: ToldCall, model: ServingModel | null): AgentToolCall {
  const call = toSdkCall({ name: tool, input });
  return {
    type: 'tool-call',
    toolCallId: callId,
    toolName: call.name,
    input: call.input,
    ...(model === null ? {} : { metadata: { toolSource: createToolSource(model) } }),
  };
}

function toEndEvents(
  { result }: Of<'run-end'>,
  { snapshots }: NewsMeans,
): readonly AgentRuntimeNews[] {
  const ended = snapshots.resultOf(result);
  return ended.error === undefined
    ? [{ type: 'run-finished', result: ended }]
    : [{ type: 'run-failed', error: ended.error }];
}

function toNoticeEvents(event: RuntimeEvent): readonly AgentRuntimeNews[] {
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
