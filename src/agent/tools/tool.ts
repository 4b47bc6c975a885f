import type { GitProfile, ProgramFiles, SandboxAccess } from '../../permissions/permissions.ts';
import type { ToolResult } from '../../tool-vocabularies/tool-views.ts';
import type { McpServerFacts } from '../../hooks/facts.ts';
import type { SandboxProfileName } from '../../process/sandbox/profile.ts';
import type { ImageBlock } from '../../sessions/messages.ts';
import type { ToolContext } from './tool-context.ts';

/**
 * One tool under its Claude Code name and input format; the other vocabularies are derived from it. Adding
 * a tool takes one file and one line in `index.ts`.
 */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The effect of a call, which decides on approval and parallel execution. */
  readonly kind: ToolKind;
  /** Fields that only hooks may set; a model's values are removed. */
  readonly hookFields?: readonly string[];
  /** Calls of one turn may run in parallel, whatever the kind. */
  readonly isParallel?: true;
  readonly server?: McpServerFacts;
  /** The plugin that contributed it. */
  readonly plugin?: string;
  /**
   * Parses the input and checks whether the call can succeed at present; a string says why not. Must not
   * change anything and must not throw: it runs before any hook, and again after hooks rewrote the input.
   */
  prepare(rawInput: unknown, context: ToolContext): PreparedCall | string;
}

/** `read` and `plan` calls of one turn run in parallel. */
export type ToolKind = 'read' | 'edit' | 'execute' | 'fetch' | 'plan' | 'ask';

export interface PreparedCall {
  /** The input that hooks see: absolute paths, defaults filled in. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Must not throw: a failure is an output without success. Must end soon after the signal aborts. */
  run(call: RunningCall): Promise<ToolOutput>;
}

export interface RunningCall {
  readonly callId: string;
  readonly signal: AbortSignal;
  /** Receives progress: lines of output, a count. */
  readonly onProgress: (text: string) => void;
  /** How git commands that only read must run; absent when a user or a rule allowed the call. */
  readonly gitProfile?: GitProfile;
  /** The files of programs that nobody was asked about. */
  readonly programFiles?: ProgramFiles;
  /** What the sandbox is opened for, because the user allowed it. */
  readonly sandboxAccess?: SandboxAccess;
}

/** `response` is Claude Code's structured `tool_response`, `text` is for the model. */
export interface ToolOutput extends ToolResult {
  readonly images?: readonly ImageBlock[];
  /** The user interrupted it. */
  readonly interrupted?: boolean;
  /** Ends the run with this text as the agent's final answer. */
  readonly finalAnswer?: string;
  /** The profile of the sandbox in which a command ran; absent outside of one. */
  readonly sandbox?: SandboxProfileName;
  /** A hook replaced `response`. */
  readonly replaced?: true;
  /** A hook refused what the call was for, or made a failure of its result: the model did nothing wrong. */
  readonly refusedByHook?: true;
}

export function createFailedOutput(error: string): ToolOutput {
  return { response: undefined, text: error, success: false, error };
}
