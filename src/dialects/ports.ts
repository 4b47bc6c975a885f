import type { ModelQuestion } from '../hooks/model-question.ts';

/** Answers with the model's text. Rejects when there is none, or when the signal aborts. */
export type AskModel = (question: ModelQuestion, signal: AbortSignal) => Promise<string>;

export interface McpCall {
  readonly server: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface McpAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** Calls a tool of a connected MCP server; null when no such server is connected. */
export type CallMcp = (call: McpCall, signal: AbortSignal) => Promise<McpAnswer | null>;

/**
 * Services of a host for hooks that need more than a process. Without one, those hooks fail with a
 * message.
 */
export interface HookPorts {
  readonly askModel?: AskModel;
  readonly callMcp?: CallMcp;
}
