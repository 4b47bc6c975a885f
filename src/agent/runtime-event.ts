import type { Failure, Verdict } from '../hooks/decision.ts';
import type { AssistantMessage, MediaBlock, ToolUseBlock } from '../sessions/messages.ts';
import type { FinishReason, ModelFailure, ModelToolActivity, Usage } from './models/model.ts';
import type { ToolOutput } from './tools/tool.ts';

/** What happens in a session, for subscribers. Plain data; subscribers cannot change anything. */
export type RuntimeEvent = {
  readonly sessionId: string;
  readonly agentId: string;
  /** The agent that started this one; null for the session's own. */
  readonly parentAgentId: string | null;
} & RuntimeFacts;

export type RuntimeFacts =
  | {
      readonly type: 'session-start';
      readonly source: string;
      readonly cwd: string;
      readonly model: { readonly provider: string; readonly id: string };
      readonly permissionMode: string;
      readonly tools: readonly string[];
      readonly transcriptPath: string | null;
    }
  | { readonly type: 'session-end'; readonly reason: string }
  | { readonly type: 'run-start'; readonly runId: string; readonly prompt: string }
  | { readonly type: 'run-end'; readonly result: RunResult }
  | { readonly type: 'turn-start'; readonly iteration: number }
  | {
      readonly type: 'turn-end';
      readonly iteration: number;
      readonly finishReason: FinishReason;
      readonly usage: Usage;
    }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'thinking-delta'; readonly text: string }
  | {
      readonly type: 'input-delta';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
    }
  /** A file that the model made. */
  | { readonly type: 'media'; readonly media: MediaBlock['media'] }
  /** A call that the model's service makes itself: it has begun, or it has ended. */
  | {
      readonly type: 'model-tool';
      readonly phase: 'start' | 'end';
      readonly activity: ModelToolActivity;
    }
  /** The whole message; `shown` is its text after hooks of MessageDisplay. */
  | {
      readonly type: 'message-end';
      readonly messageId: string;
      readonly message: AssistantMessage;
      readonly shown: string;
    }
  | {
      readonly type: 'tool-start';
      readonly callId: string;
      readonly tool: string;
      readonly input: unknown;
      /** Set when hooks and rules were asked before, so that it has the input that they left. */
      readonly isChecked?: true;
    }
  | { readonly type: 'tool-delta'; readonly callId: string; readonly text: string }
  | {
      readonly type: 'tool-end';
      readonly callId: string;
      readonly tool: string;
      readonly input: unknown;
      readonly output: ToolOutput;
      readonly durationMs: number;
      /** Who refused it, when it did not run. */
      readonly deniedBy: DeniedBy | null;
      /** The hooks that refused it, when hooks did. */
      readonly deniedByHooks?: readonly string[];
      /** The question that the user denied, or that nobody was there to answer; null for other calls. */
      readonly question: DeniedQuestion | null;
    }
  /** Hooks ran, or were withheld, for an event. */
  | { readonly type: 'hook'; readonly verdict: Verdict }
  /** A background hook answered later; `notice` is its message to the user. */
  | {
      readonly type: 'hook-late';
      readonly hook: string;
      readonly dialect: string;
      readonly event: string;
      readonly notice: string | null;
      readonly failure: Failure | null;
      readonly warnings: readonly string[];
    }
  | {
      readonly type: 'retry-start';
      readonly failure: ModelFailure;
      readonly waitMs: number;
      /** Whether the deltas of the failed answer are void. */
      readonly discardsOutput: boolean;
    }
  | { readonly type: 'compaction-start'; readonly trigger: 'manual' | 'auto' }
  | {
      readonly type: 'compaction-end';
      readonly tokensBefore: number;
      /** Null when hooks blocked it or the model failed. */
      readonly summary: string | null;
    }
  /** The answer of a command; `isAll` when the model is not asked afterwards. */
  | { readonly type: 'reply'; readonly text: string; readonly isAll: boolean }
  /** A notification for the user. */
  | { readonly type: 'notification'; readonly text: string }
  | { readonly type: 'notice'; readonly level: NoticeLevel; readonly text: string };

/** Who refused a call; `nobody` when there was no user to ask. */
export type DeniedBy = 'hook' | 'rule' | 'person' | 'nobody';

/** Displays show it instead of the sentence that the model reads. */
export interface DeniedQuestion {
  /** Whether a PreToolUse hook or the permission rules asked. */
  readonly askedBy: 'hook' | 'rule';
  /** Null when the user gave none. */
  readonly userReason: string | null;
}

export type NoticeLevel = 'info' | 'warning' | 'error';

/** How one prompt ended. */
export interface RunResult {
  readonly sessionId: string;
  readonly runId: string;
  readonly status: 'completed' | 'aborted' | 'failed';
  readonly ending: RunEnding;
  /** The agent's last text. */
  readonly text: string;
  /** Why it ended otherwise than by being done. */
  readonly reason: string | null;
  /** Ids of the hooks that refused the prompt or ended the run; absent when none did. */
  readonly endedByHooks?: readonly string[];
  readonly iterations: number;
  readonly usage: Usage;
  /** US dollars, or null when the model's price is not known. */
  readonly costUsd: number | null;
  readonly durationMs: number;
  readonly denials: readonly Denial[];
  readonly deferred: Omit<ToolUseBlock, 'type'> | null;
}

/** Why a run ended. */
export const ENDINGS = [
  'done',
  'refused',
  'stopped_by_hook',
  'tool_deferred',
  'max_turns',
  'aborted',
  'model_failed',
  'failed',
  'loop',
] as const;

export type RunEnding = (typeof ENDINGS)[number];

export interface Denial {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly reason: string;
}
