import type { AssistantBlock, Message } from '../../sessions/messages.ts';

/**
 * A language model behind one request at a time. It knows nothing of hooks, tools' effects or sessions.
 *
 * `stream` must end with exactly one `end` or one `failure`, must never throw or reject, and must
 * end soon after the signal aborts (with a failure of class `aborted`). It must not retry by itself.
 */
export interface Model {
  readonly provider: string;
  readonly id: string;
  /** How many tokens fit into one request; compaction starts before that. */
  readonly contextTokens: number;
  /** US dollars for a million tokens, or null when the price is not known. */
  readonly prices: Prices | null;
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
  /** JSON Schema that the answer's text must follow, where the provider can be told so. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** How hard to think, where the model can be told: `low`, `medium`, `high`. */
  readonly effort?: string;
  /** Off for small questions that hooks ask. */
  readonly thinking?: boolean;
}

/** A tool as the model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export type ModelChunk =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'thinking-delta'; readonly text: string }
  /** Part of a call's input, as JSON text, while the model is still writing it. */
  | {
      readonly type: 'input-delta';
      readonly id: string;
      readonly name: string;
      readonly text: string;
    }
  | ModelEnd
  | { readonly type: 'failure'; readonly failure: ModelFailure };

export interface ModelEnd {
  readonly type: 'end';
  /** The whole answer, in order. A call whose arguments are no JSON has the raw text as its input. */
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
  /** What it costs in US dollars, where the service itself says so. */
  readonly costUsd?: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Why the model gave no answer, in Claude's words for it; `aborted` and `unreachable` are ours. */
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
  /** One sentence for a person: what was asked of whom, and what came back. */
  readonly message: string;
  /** The service's own words, shortened. */
  readonly details?: string;
  readonly status: number | null;
  /** Whether the same request may succeed a little later. */
  readonly isRetryable: boolean;
  readonly retryAfterMs: number | null;
}
