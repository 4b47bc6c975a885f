import type { AgentRuntimeEvent } from '../../plugins/contract/runtime-hooks.ts';
import type { AgentUsage } from '../../plugins/contract/snapshot.ts';
import { toPlainText } from '../../plugins/serialize/plain-value.ts';
import type { PendingPrompt } from './pending-prompts.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { callObserver } from '../../base/callbacks.ts';

const MAX_ERROR_CHARACTERS = 100_000;

/** What happens in the sessions of a `ClineCore`. */
export type CoreSessionEvent =
  | {
      type: 'chunk';
      payload: {
        sessionId: string;
        stream: 'stdout' | 'stderr' | 'agent';
        /** The event beside it as JSON. */
        chunk: string;
        ts: number;
      };
    }
  | { type: 'agent_event'; payload: { sessionId: string; event: AgentEvent } }
  | { type: 'pending_prompts'; payload: { sessionId: string; prompts: PendingPrompt[] } }
  | { type: 'pending_prompt_submitted'; payload: PendingPrompt & { sessionId: string } }
  | { type: 'ended'; payload: { sessionId: string; reason: string; ts: number } }
  | {
      type: 'hook';
      payload: {
        sessionId: string;
        hookEventName:
          | 'tool_call'
          | 'tool_result'
          | 'agent_end'
          | 'agent_error'
          | 'session_shutdown';
        agentId?: string;
        iteration?: number;
        toolName?: string;
      };
    }
  | { type: 'status'; payload: { sessionId: string; status: SessionStatus } };

export type SessionStatus = 'idle' | 'running' | 'pending' | 'completed' | 'failed' | 'cancelled';

/** Events of an agent in Cline's older format. */
export type AgentEvent =
  | {
      type: 'content_start';
      contentType: 'text' | 'reasoning' | 'tool';
      text?: string;
      accumulated?: string;
      reasoning?: string;
      toolName?: string;
      toolCallId?: string;
      input?: unknown;
    }
  | {
      type: 'content_update';
      contentType: 'tool';
      toolName: string;
      toolCallId: string;
      update: unknown;
    }
  | {
      type: 'content_end';
      contentType: 'text' | 'reasoning' | 'tool';
      text?: string;
      reasoning?: string;
      toolName?: string;
      toolCallId?: string;
      output?: unknown;
      error?: string;
    }
  | { type: 'iteration_start'; iteration: number }
  | { type: 'iteration_end'; iteration: number; hadToolCalls: boolean; toolCallCount: number }
  | { type: 'notice'; noticeType: 'status' | 'recovery' | 'stop'; message: string }
  | (AgentUsage & { type: 'usage'; totalInputTokens: number; totalOutputTokens: number })
  | {
      type: 'done';
      reason: 'completed' | 'aborted' | 'error';
      text: string;
      iterations: number;
      usage: AgentUsage;
    }
  | { type: 'error'; error: Error; recoverable: boolean; iteration: number };

/** Converts an event of the runtime to the older format: none, one or several. */
export function toAgentEvents(event: AgentRuntimeEvent): readonly AgentEvent[] {
  switch (event.type) {
    case 'turn-started':
      return [{ type: 'iteration_start', iteration: event.iteration }];
    case 'turn-finished': {
      const { iteration, toolCallCount } = event;
      return [{ type: 'iteration_end', iteration, hadToolCalls: toolCallCount > 0, toolCallCount }];
    }
    case 'assistant-text-delta': {
      const { text, accumulatedText: accumulated } = event;
      return [{ type: 'content_start', contentType: 'text', text, accumulated }];
    }
    case 'assistant-reasoning-delta':
      return [{ type: 'content_start', contentType: 'reasoning', reasoning: event.text }];
    case 'assistant-message':
      return toContentEndEvents(event);
    case 'tool-started':
    case 'tool-updated':
    case 'tool-finished':
      return toToolEvents(event);
    case 'usage-updated': {
      const { usage } = event;
      const { inputTokens: totalInputTokens, outputTokens: totalOutputTokens } = usage;
      return [{ type: 'usage', ...usage, totalInputTokens, totalOutputTokens }];
    }
    case 'status-notice':
      return [{ type: 'notice', noticeType: 'status', message: event.message }];
    case 'run-finished': {
      const { status, outputText: text, iterations, usage } = event.result;
      const reason = status === 'aborted' ? 'aborted' : 'completed';
      return [{ type: 'done', reason, text, iterations, usage }];
    }
    case 'run-failed': {
      const { error, snapshot } = event;
      const { iteration, usage } = snapshot;
      return [
        { type: 'error', error, recoverable: false, iteration },
        { type: 'done', reason: 'error', text: error.message, iterations: iteration, usage },
      ];
    }
    default:
      return [];
  }
}

function formatErrorText(output: unknown): string {
  return typeof output === 'string' ? output : toPlainText(output, MAX_ERROR_CHARACTERS).text;
}

type Of<Type extends AgentRuntimeEvent['type']> = Extract<AgentRuntimeEvent, { type: Type }>;

function toContentEndEvents({ message }: Of<'assistant-message'>): readonly AgentEvent[] {
  return message.content.flatMap((part): AgentEvent[] => {
    const { type } = part;
    if (type !== 'text' && type !== 'reasoning') return [];
    const content = type === 'text' ? { text: part.text } : { reasoning: part.text };
    return [{ type: 'content_end', contentType: type, ...content }];
  });
}

function toToolEvents(
  event: Of<'tool-started' | 'tool-updated' | 'tool-finished'>,
): readonly AgentEvent[] {
  const { toolName, toolCallId, input } = event.toolCall;
  const facts = { contentType: 'tool', toolName, toolCallId } as const;
  if (event.type === 'tool-started') return [{ type: 'content_start', ...facts, input }];
  if (event.type === 'tool-updated') {
    return [{ type: 'content_update', ...facts, update: event.update }];
  }
  return event.message.content.flatMap((part): AgentEvent[] => {
    if (part.type !== 'tool-result') return [];
    const { output, isError } = part;
    const error = isError === true ? { error: formatErrorText(output) } : {};
    return [{ type: 'content_end', ...facts, output, ...error }];
  });
}

export type Listener = (event: CoreSessionEvent) => unknown;

/** Subscribers to the events of all sessions, or of one. */
export class Listeners {
  readonly #subscriptions = new Set<{
    notify: (event: CoreSessionEvent) => void;
    sessionId: string | null;
  }>();

  /** Each call adds a subscription, also for the same listener; returns a function that ends it. */
  add(listener: Listener, sessionId: string | null): () => void {
    const subscription = { notify: withRejectionWarning(listener), sessionId };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  emit(event: CoreSessionEvent): void {
    for (const { notify, sessionId } of this.#subscriptions) {
      if (sessionId === null || sessionId === event.payload.sessionId) {
        callObserver('a subscriber to sessions', notify, event);
      }
    }
  }

  clear(): void {
    this.#subscriptions.clear();
  }
}

/** A warning, because the promise of a listener is not awaited. */
function withRejectionWarning(listener: Listener): (event: CoreSessionEvent) => void {
  return (event) => {
    const result = listener(event);
    if (!(result instanceof Promise)) return;
    result.catch((error: unknown) =>
      process.emitWarning(`a subscriber to sessions failed: ${getErrorMessage(error)}`),
    );
  };
}
