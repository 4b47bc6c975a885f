import type { AssistantBlock, MediaBlock, Message } from '../../sessions/messages.ts';

/**
 * A language model behind one request at a time. It knows nothing of hooks, tools' effects or sessions.
 *
 * `stream` must end with exactly one `end` or one `failure`, must never throw or reject, and must
 * end soon after the signal aborts (with a failure of class `aborted`). It must not retry.
 */
export interface Model {
  readonly provider: string;
  readonly id: string;
  /** The context window; compaction starts before it is full. */
  readonly contextTokens: number;
  /** US dollars per million tokens; null when unknown. */
  readonly prices: Prices | null;
  /** The reasoning effort that its service uses by default; absent for a model without levels. */
  readonly effort?: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
}

export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** JSON Schema for the answer, where the provider supports it. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Reasoning effort, where supported: `low`, `medium`, `high`, `xhigh`, `max`. */
  readonly effort?: string;
  /** Disabled for small requests of hooks. */
  readonly thinking?: boolean;
  /** All options as hooks left them, for a model of the program's own; services do not get them. */
  readonly ownOptions?: Readonly<Record<string, unknown>>;
}

/** A tool in the form sent to the model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export type ModelChunk =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'thinking-delta'; readonly text: string }
  /** A piece of a call's input as JSON text, while the model is writing it. */
  | {
      readonly type: 'input-delta';
      readonly id: string;
      readonly name: string;
      readonly text: string;
    }
  | { readonly type: 'media'; readonly media: MediaBlock['media'] }
  /** A call that the model's service makes itself: without `output` it has begun. */
  | { readonly type: 'model-tool'; readonly activity: ModelToolActivity }
  | ModelEnd
  | { readonly type: 'failure'; readonly failure: ModelFailure };

/** A call of a tool that runs outside of the agent. */
export interface ModelToolActivity {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly execution: 'client' | 'provider';
  readonly input?: unknown;
  readonly output?: unknown;
  readonly isError?: boolean;
}

export interface ModelEnd {
  readonly type: 'end';
  /** The whole answer, in order. A call with invalid JSON arguments has the raw text as its input. */
  readonly content: readonly AssistantBlock[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
}

export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'other';

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** The cost in US dollars, when the service reports it. */
  readonly costUsd?: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Failure classes as Claude Code names them; `aborted` and `unreachable` are additions. */
export const FAILURE_CLASSES = [
  'rate_limit',
  'overloaded',
  'authentication_failed',
  'billing_error',
  'invalid_request',
  'model_not_found',
  'server_error',
  'max_output_tokens',
  'unreachable',
  'protocol',
  'aborted',
  'unknown',
] as const;

export interface ModelFailure {
  readonly class: (typeof FAILURE_CLASSES)[number];
  /** One sentence for the user: what was requested and what happened. */
  readonly message: string;
  /** The service's own message, truncated. */
  readonly details?: string;
  readonly status: number | null;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  readonly retryAfterMs: number | null;
}
