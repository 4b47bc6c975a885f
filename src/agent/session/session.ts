import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { LateOutcome } from '../../hooks/observers.ts';
import type { PermissionMode } from '../../permissions/permissions.ts';
import type { ImageBlock, Message } from '../../sessions/messages.ts';
import type { SlashCommand } from '../instructions/commands.ts';
import type { Model, Usage } from '../models/model.ts';
import type { RunResult } from '../runtime-event.ts';
import type { Tool } from '../tools/tool.ts';

/** One conversation with a person or a program, over any number of prompts. */
export interface Session {
  readonly id: string;
  readonly transcriptPath: string | null;
  readonly isRunning: boolean;
  messages(): readonly Message[];
  /**
   * Runs a prompt to its end; null goes on with what is left to do. Rejects with SESSION_BUSY while
   * another one runs, and with nothing else: how it went is the result.
   */
  prompt(text: string | null): Promise<RunResult>;
  /** The same once nothing else runs any more. A hook that the run waits for must not wait for it. */
  queue(text: string): Promise<RunResult>;
  /** Pictures that the next prompt comes with; forgotten when it is refused. */
  show(images: readonly ImageBlock[]): void;
  /** Says something to the agent while it works; false when it does not. */
  steer(text: string): boolean;
  /**
   * Ends the run under way, with all that it started. Waits for nothing, because a hook that the run
   * waits for may be the one that calls; whoever started the run learns of its end.
   */
  abort(reason: string): void;
  /** Sums up the conversation so far; a sentence says why not. */
  compact(instructions: string | null): Promise<string | null>;
  state(): SessionState;
  /** Those that it has now. */
  tools(): readonly Tool[];
  /** What `/name` means here. */
  commands(): readonly SlashCommand[];
  setPermissionMode(mode: PermissionMode): void;
  /** Asks hooks, then goes on with another model; a sentence says why not. */
  switchModel(wanted: ModelSwitch): Promise<string | null>;
  /** A background hook answered. */
  receiveLate(late: LateOutcome): void;
  /** A file that hooks watch has changed. */
  reportFile(change: Pick<FiredEvent<'FileChanged'>, 'file' | 'change'>): void;
  /** Settings have changed; hooks may say that this does not count. */
  reportConfig(event: FiredEvent<'ConfigChange'>): Promise<Verdict>;
  /** Ends what runs and tells hooks why. Safe to call more than once. */
  close(reason: string): Promise<void>;
}

/** What a session is like at a moment. */
export interface SessionState {
  readonly title: string | null;
  readonly cwd: string;
  readonly model: { readonly provider: string; readonly id: string };
  readonly permissionMode: PermissionMode;
  /** How many tokens the conversation takes, of how many. */
  readonly contextTokens: number;
  readonly contextLimit: number;
  /** Of everything since the session was opened. */
  readonly usage: Usage;
  readonly costUsd: number | null;
}

export interface ModelSwitch {
  readonly model: Model;
  /** As it was asked for; null when nobody named it. */
  readonly requested: string | null;
  readonly source: 'command' | 'picker' | 'sdk';
  /** Ends the hooks that are asked; the model stays. */
  readonly signal?: AbortSignal;
}
