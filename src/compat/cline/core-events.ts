import { callObserver } from '../../base/callbacks.ts';
import { getErrorMessage } from '../../base/errors.ts';
import type { AgentEvent } from './agent-events.ts';
import type { PendingPrompt } from './pending-prompts.ts';
import type { CoreSessionSnapshot, SessionStatus } from './session-files.ts';

/** What happens in the sessions of a `ClineCore`. */
export type CoreSessionEvent =
  | { type: 'chunk'; payload: SessionChunkEvent }
  | { type: 'agent_event'; payload: SessionAgentEvent }
  | { type: 'pending_prompts'; payload: SessionPendingPromptsEvent }
  | { type: 'pending_prompt_submitted'; payload: SessionPendingPromptSubmittedEvent }
  | { type: 'session_snapshot'; payload: SessionSnapshotEvent }
  | { type: 'ended'; payload: SessionEndedEvent }
  | { type: 'hook'; payload: SessionToolEvent }
  | { type: 'status'; payload: { sessionId: string; status: SessionStatus } };

export interface SessionChunkEvent {
  sessionId: string;
  stream: 'stdout' | 'stderr' | 'agent';
  /** The event beside it as JSON. */
  chunk: string;
  ts: number;
}

export interface SessionAgentEvent {
  sessionId: string;
  event: AgentEvent;
  teamAgentId?: string;
  /** Always `lead`: there are no teams. */
  teamRole?: 'lead' | 'teammate';
}

export interface SessionPendingPromptsEvent {
  sessionId: string;
  prompts: PendingPrompt[];
}

export interface SessionPendingPromptSubmittedEvent extends PendingPrompt {
  sessionId: string;
}

export interface SessionSnapshotEvent {
  sessionId: string;
  snapshot: CoreSessionSnapshot;
}

export interface SessionEndedEvent {
  sessionId: string;
  reason: string;
  ts: number;
}

export interface SessionToolEvent {
  sessionId: string;
  hookEventName: 'tool_call' | 'tool_result' | 'agent_end' | 'agent_error' | 'session_shutdown';
  agentId?: string;
  conversationId?: string;
  parentAgentId?: string;
  iteration?: number;
  toolName?: string;
  inputTokens?: number;
  outputTokens?: number;
  ts?: string;
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
