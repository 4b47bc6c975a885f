import type { ToolResult } from '../../tool-vocabularies/tool-views.ts';
import type { McpServerFacts } from '../../hooks/facts.ts';
import type { ImageBlock } from '../../sessions/messages.ts';
import type { ToolContext } from './tool-context.ts';

/**
 * One thing that the agent can do, under its Claude name and in Claude's words; the other faces are
 * made from it. Adding a tool is one file and one line in `index.ts`.
 */
export interface Tool {
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** JSON Schema of the input. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** What a call does to the world, which decides who must agree and what may run side by side. */
  readonly kind: ToolKind;
  /** Fields that only hooks fill in; what a model says in them is left out. */
  readonly hookFields?: readonly string[];
  /** Calls of one turn may run in parallel, whatever its kind is. */
  readonly isParallel?: true;
  /** The MCP server that it belongs to. */
  readonly server?: McpServerFacts;
  /** The plugin that brought it. */
  readonly plugin?: string;
  /**
   * Reads the input and looks whether the call can work as things stand; a string says why not.
   * Must not change anything and must not throw: it is asked before any hook is, and again after
   * hooks rewrote the input.
   */
  prepare(given: unknown, bench: ToolContext): PreparedCall | string;
}

/** `read` and `plan` calls of one turn run in parallel. */
export type ToolKind = 'read' | 'edit' | 'execute' | 'fetch' | 'plan' | 'ask';

export interface PreparedCall {
  /** The input as hooks shall see it: absolute paths, defaults filled in. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Must not throw: what goes wrong is an output without success. Ends soon after the signal aborts. */
  run(call: RunningCall): Promise<ToolOutput>;
}

export interface RunningCall {
  readonly callId: string;
  readonly signal: AbortSignal;
  /** Told what there is to see while it runs: lines of output, a count. */
  readonly onProgress: (text: string) => void;
}

/** `response` is Claude's structured `tool_response`, `text` what the model is given. */
export interface ToolOutput extends ToolResult {
  readonly images?: readonly ImageBlock[];
  /** The person interrupted it. */
  readonly interrupted?: boolean;
  /** The call did what the run was for: it ends with this as the agent's last words. */
  readonly finalAnswer?: string;
  /** A hook put `response` in the place of what the tool gave. */
  readonly replaced?: true;
}

export function createFailedOutput(error: string): ToolOutput {
  return { response: undefined, text: error, success: false, error };
}
