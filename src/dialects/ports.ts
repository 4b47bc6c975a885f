/** A question that a `prompt` or `agent` hook puts to the host's model. */
export interface ModelQuestion {
  /** `agent` may use tools to find the answer; `prompt` is one request without any. */
  readonly kind: 'prompt' | 'agent';
  readonly prompt: string;
  /** The model that the hook names; null for the host's choice. */
  readonly model: string | null;
  /** JSON Schema of the answer. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** For an `agent`: the transcript that it may read. */
  readonly transcriptPath: string | null;
}

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
