import { systemClock } from '../../base/clock.ts';
import { dropUndefined } from '../../base/defined.ts';
import type { GeneratedMedia } from '../../plugins/contract/message.ts';
import type { AgentRuntimeEvent } from '../../plugins/contract/runtime-hooks.ts';
import type { AgentUsage, ProviderErrorClass } from '../../plugins/contract/snapshot.ts';
import { toPlainText } from '../../plugins/serialize/plain-value.ts';

/** Events of an agent in Cline's older format. */
export type AgentEvent =
  | AgentContentStartEvent
  | AgentContentUpdateEvent
  | AgentContentEndEvent
  | AgentIterationStartEvent
  | AgentIterationEndEvent
  | AgentNoticeEvent
  | AgentUsageEvent
  | AgentDoneEvent
  | AgentErrorEvent;

export type AgentContentType = 'text' | 'reasoning' | 'media' | 'tool';

/** Set for events of sub-agents only, so that programs can tell them from those of the session's agent. */
export interface AgentEventMetadata {
  agentId?: string;
  conversationId?: string;
  parentAgentId?: string | null;
}

/** A piece of text or reasoning, or the start of a tool call. */
export interface AgentContentStartEvent extends AgentEventMetadata {
  type: 'content_start';
  contentType: AgentContentType;
  text?: string;
  /** The text of the turn so far. */
  accumulated?: string;
  reasoning?: string;
  redacted?: boolean;
  toolName?: string;
  toolCallId?: string;
  input?: unknown;
  /** Who runs a tool of the model's own. */
  execution?: 'client' | 'provider';
}

export interface AgentContentUpdateEvent extends AgentEventMetadata {
  type: 'content_update';
  contentType: 'tool';
  toolName?: string;
  toolCallId?: string;
  update: unknown;
}

export interface AgentContentEndEvent extends AgentEventMetadata {
  type: 'content_end';
  contentType: AgentContentType;
  text?: string;
  reasoning?: string;
  media?: GeneratedMedia;
  toolName?: string;
  toolCallId?: string;
  output?: unknown;
  error?: string;
  durationMs?: number;
  execution?: 'client' | 'provider';
}

export interface AgentIterationStartEvent extends AgentEventMetadata {
  type: 'iteration_start';
  iteration: number;
}

export interface AgentIterationEndEvent extends AgentEventMetadata {
  type: 'iteration_end';
  iteration: number;
  hadToolCalls: boolean;
  toolCallCount: number;
}

export interface AgentNoticeEvent extends AgentEventMetadata {
  type: 'notice';
  noticeType: 'recovery' | 'stop' | 'status';
  message: string;
  displayRole?: 'system' | 'status';
  reason?: string;
  metadata?: Record<string, unknown>;
}

/** What one turn took; the totals are those of the run. */
export interface AgentUsageEvent extends AgentEventMetadata {
  type: 'usage';
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  cost?: number;
  totalInputTokens: number;
  totalOutputTokens: number;
  totalCacheReadTokens?: number;
  totalCacheWriteTokens?: number;
  totalCost?: number;
}

/** A run ended without an error; one that failed is an `error` with `recoverable: false`. */
export interface AgentDoneEvent extends AgentEventMetadata {
  type: 'done';
  reason: 'completed' | 'aborted' | 'max_iterations' | 'mistake_limit' | 'error';
  text: string;
  iterations: number;
  usage?: LegacyAgentUsage;
}

export interface AgentErrorEvent extends AgentEventMetadata {
  type: 'error';
  error: Error;
  errorClass?: ProviderErrorClass;
  recoverable: boolean;
  iteration: number;
}

/** Usage as the older format has it: without what is zero. */
export interface LegacyAgentUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  totalCost?: number;
}

const MAX_ERROR_CHARACTERS = 100_000;
const NO_USAGE: AgentUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

type TokenKey = 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens';

type Of<Type extends AgentRuntimeEvent['type']> = Extract<AgentRuntimeEvent, { type: Type }>;

/** Converts events of the runtime to the older format, which has differences and durations of its own. */
export class AgentEventConverter {
  /** The usage of the run so far, by agent. */
  readonly #usage = new Map<string, AgentUsage>();
  readonly #startedAt = new Map<string, number>();
  /** Calls of the current turn that failed, and how many ended, by agent. */
  readonly #turns = new Map<string, { failed: string[]; ended: number }>();

  /** None, one or several. */
  convert(event: AgentRuntimeEvent): readonly AgentEvent[] {
    const { agentId, parentAgentId = null, conversationId } = event.snapshot;
    const events = this.#toEvents(event, agentId);
    if (parentAgentId === null) return events;
    const metadata = { agentId, parentAgentId, ...dropUndefined({ conversationId }) };
    return events.map((each) => ({ ...each, ...metadata }));
  }

  #toEvents(event: AgentRuntimeEvent, agentId: string): readonly AgentEvent[] {
    switch (event.type) {
      case 'run-started':
        this.#usage.delete(agentId);
        return [];
      case 'turn-started':
        this.#turns.set(agentId, { failed: [], ended: 0 });
        return [{ type: 'iteration_start', iteration: event.iteration }];
      case 'turn-finished':
        return this.#endTurn(event, agentId);
      case 'assistant-text-delta': {
        const { text, accumulatedText: accumulated } = event;
        return [{ type: 'content_start', contentType: 'text', text, accumulated }];
      }
      case 'assistant-reasoning-delta': {
        const { text: reasoning, redacted = false } = event;
        return [{ type: 'content_start', contentType: 'reasoning', reasoning, redacted }];
      }
      case 'assistant-message':
        return toContentEndEvents(event);
      case 'tool-started':
      case 'tool-updated':
      case 'tool-finished':
        return this.#toToolEvents(event, agentId);
      case 'usage-updated':
        return [this.#toUsageEvent(agentId, event.usage)];
      default:
        return toEndEvents(event);
    }
  }

  /** A turn whose calls all failed is reported as an error that the run survives. */
  #endTurn({ iteration, toolCallCount }: Of<'turn-finished'>, agentId: string): AgentEvent[] {
    const { failed, ended } = this.#turns.get(agentId) ?? { failed: [], ended: 0 };
    this.#turns.delete(agentId);
    const hadToolCalls = toolCallCount > 0;
    const end: AgentEvent = { type: 'iteration_end', iteration, hadToolCalls, toolCallCount };
    if (ended === 0 || failed.length < ended) return [end];
    const message = `${failed.length} tool call(s) failed: ${failed.join('; ')}`;
    const error = new FailedToolCalls(message);
    return [end, { type: 'error', error, recoverable: true, iteration }];
  }

  #toToolEvents(
    event: Of<'tool-started' | 'tool-updated' | 'tool-finished'>,
    agentId: string,
  ): readonly AgentEvent[] {
    const { toolName, toolCallId, input, execution } = event.toolCall;
    const facts = { contentType: 'tool', toolName, toolCallId } as const;
    const by = dropUndefined({ execution });
    if (event.type === 'tool-updated') {
      return [{ type: 'content_update', ...facts, update: event.update }];
    }
    if (event.type === 'tool-started') {
      this.#startedAt.set(toolCallId, systemClock.now());
      return [{ type: 'content_start', ...facts, input, ...by }];
    }
    const { output, isError } = event.message.content.find(isResult) ?? { output: undefined };
    const error = isError === true ? formatErrorText(output) : undefined;
    this.#countResult(agentId, toolName, error);
    const durationMs = this.#takeDuration(toolCallId);
    const end = { output, ...dropUndefined({ error, durationMs }), ...by };
    return [{ type: 'content_end', ...facts, ...end }];
  }

  #countResult(agentId: string, toolName: string, error: string | undefined): void {
    const turn = this.#turns.get(agentId);
    if (turn === undefined) return;
    turn.ended += 1;
    if (error !== undefined) turn.failed.push(`[${toolName}] ${error}`);
  }

  #takeDuration(toolCallId: string): number | undefined {
    const startedAt = this.#startedAt.get(toolCallId);
    this.#startedAt.delete(toolCallId);
    return startedAt === undefined ? undefined : systemClock.now() - startedAt;
  }

  #toUsageEvent(agentId: string, usage: AgentUsage): AgentUsageEvent {
    const before = this.#usage.get(agentId) ?? NO_USAGE;
    this.#usage.set(agentId, { ...usage });
    const increase = (key: TokenKey): number => Math.max(0, usage[key] - before[key]);
    const { totalCost } = usage;
    const cost = totalCost === undefined ? undefined : totalCost - (before.totalCost ?? 0);
    return {
      type: 'usage',
      inputTokens: increase('inputTokens'),
      outputTokens: increase('outputTokens'),
      ...dropUndefined({
        cacheReadTokens: toPositive(increase('cacheReadTokens')),
        cacheWriteTokens: toPositive(increase('cacheWriteTokens')),
        cost: toPositive(cost),
      }),
      totalInputTokens: usage.inputTokens,
      totalOutputTokens: usage.outputTokens,
      ...dropUndefined({
        totalCacheReadTokens: toPositive(usage.cacheReadTokens),
        totalCacheWriteTokens: toPositive(usage.cacheWriteTokens),
        totalCost,
      }),
    };
  }
}

/** All tool calls of a turn failed; the model reads why and may go on. */
class FailedToolCalls extends Error {
  override readonly name = 'FailedToolCalls';
}

function toEndEvents(event: AgentRuntimeEvent): readonly AgentEvent[] {
  switch (event.type) {
    case 'status-notice':
      return [toNoticeEvent(event)];
    case 'run-finished': {
      const { status, outputText: text, iterations, usage } = event.result;
      const reason = status === 'aborted' ? 'aborted' : 'completed';
      return [{ type: 'done', reason, text, iterations, usage: toLegacyUsage(usage) }];
    }
    case 'run-failed': {
      const { error, errorClass, snapshot } = event;
      const { iteration } = snapshot;
      const kind = dropUndefined({ errorClass });
      return [{ type: 'error', error, ...kind, recoverable: false, iteration }];
    }
    default:
      return [];
  }
}

function toNoticeEvent({ message, metadata }: Of<'status-notice'>): AgentNoticeEvent {
  const reason = metadata?.['reason'];
  return {
    type: 'notice',
    noticeType: 'status',
    displayRole: 'status',
    message,
    ...(typeof reason === 'string' ? { reason } : {}),
    ...dropUndefined({ metadata }),
  };
}

export function toLegacyUsage(usage: AgentUsage): LegacyAgentUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalCost } = usage;
  return {
    inputTokens,
    outputTokens,
    ...dropUndefined({
      cacheReadTokens: toPositive(cacheReadTokens),
      cacheWriteTokens: toPositive(cacheWriteTokens),
      totalCost,
    }),
  };
}

function toPositive(value: number | undefined): number | undefined {
  return value === undefined || value <= 0 ? undefined : value;
}

type Part = Of<'assistant-message'>['message']['content'][number];

function isResult(part: Part): part is Extract<Part, { type: 'tool-result' }> {
  return part.type === 'tool-result';
}

/** The text of a failed call's output, as the older format has it. */
export function formatErrorText(output: unknown): string {
  return typeof output === 'string' ? output : toPlainText(output, MAX_ERROR_CHARACTERS).text;
}

/** The whole text, then the whole reasoning, then each generated file. */
function toContentEndEvents({ message }: Of<'assistant-message'>): readonly AgentEvent[] {
  const { content } = message;
  const join = (type: 'text' | 'reasoning'): string | undefined => {
    const texts = content.flatMap((part) => (part.type === type ? [part.text] : []));
    return texts.length === 0 ? undefined : texts.join('');
  };
  const text = join('text');
  const reasoning = join('reasoning');
  const media = content.flatMap((part) => (part.type === 'media' ? [part.media] : []));
  const end = 'content_end' as const;
  return [
    ...(text === undefined ? [] : [{ type: end, contentType: 'text' as const, text }]),
    ...(reasoning === undefined
      ? []
      : [{ type: end, contentType: 'reasoning' as const, reasoning }]),
    ...media.map((each) => ({ type: end, contentType: 'media' as const, media: each })),
  ];
}
