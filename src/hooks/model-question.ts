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
