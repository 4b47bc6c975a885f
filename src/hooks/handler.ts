import type { Decision, Failure, FailurePolicy } from './decision.ts';
import type { ToolView, Vocabulary } from '../tool-vocabularies/tool-views.ts';
import type { EventName, HookEvent } from './facts.ts';

/** What a handler is run with. The same object is given to every handler of one vocabulary. */
export interface HandlerInput {
  readonly event: HookEvent;
  /** The tool call in the handler's own vocabulary; null for events without a tool. */
  readonly tool: ToolView | null;
}

/** What went to a hook and what came back, in one call of it. */
export interface Exchange {
  /** The command line, or the address, that was asked. */
  readonly asked: string;
  /** Where a program ran; null for what is no program. */
  readonly cwd: string | null;
  /** What it was sent. Hooks of one encoding share the bytes, so nobody may change them. */
  readonly payload: Uint8Array;
  /** How it ended: `exit code 2`, `timeout`, `HTTP 200` … */
  readonly ending: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/** A handler's answer: a decision or a failure, and what the run looked like. */
export interface Answer {
  readonly decision?: Decision;
  readonly failure?: Failure;
  readonly notes?: readonly string[];
  /** How its program ended, for the trace. */
  readonly program?: {
    readonly exitCode: number | null;
    readonly stdout: string;
    readonly stderr: string;
  };
  /** Set when the handler goes on in the background; its real answer comes here. */
  readonly late?: Promise<Answer>;
}

/** Which handlers are started without waiting for anything between them; no two waves are the same. */
export type Wave = number;

/**
 * A hook made ready to run by a dialect: the one seam between the engine and every dialect.
 *
 * `run` must settle soon after its signal aborts; it may answer synchronously; it should return a
 * failure rather than throw, and whatever it does throw becomes a failure of kind `threw`. It must
 * never change the input that it is given.
 */
export interface Handler {
  /** Unique among all handlers, stable over restarts. */
  readonly id: string;
  readonly dialect: string;
  /** Where it comes from, as the user would look for it. */
  readonly source: string;
  readonly event: EventName;
  /** The vocabulary in which this handler sees tools. */
  readonly vocabulary: Vocabulary;
  readonly onFailure: FailurePolicy;
  /** Handlers that share this are one hook, configured more than once: the last that would run does. */
  readonly sameAs?: string;
  /** Waits for every handler declared before it, and sees their rewrites. */
  readonly inOrder?: boolean;
  /** Gets a copy of the input that it shares with others in order, and may change that copy in place. */
  readonly isHanded?: boolean;
  /** Is started and not waited for; its answer arrives at `onLate`. */
  readonly background?: boolean;
  /** Enforced by the engine. A handler that runs a program leaves it to the runner, which ends the tree. */
  readonly timeoutMs?: number;
  /**
   * Why it does not fit this event, or null when it does. `names` are all names of the tool, or the
   * subject; `tool` is the part of the call that it would be asked about. Handlers that share one
   * function are asked once for all, so its answer must depend on nothing else.
   */
  readonly fits?: (
    event: HookEvent,
    names: readonly string[],
    tool: ToolView | null,
  ) => string | null;
  /**
   * Why it may not run now (`untrusted`, `modified`, `disabled`), or null. Asked right before each
   * run; what was found out for one handler of a wave holds for all others of it.
   */
  withheld?(wave?: Wave): string | null;
  /**
   * Makes what `run` will need, such as a payload, for one that never answers at once. Called before
   * several are started, because right after it started a process Node.js is slow for a while.
   */
  prepare?(input: HandlerInput): void;
  /** `report`, when it is given, must be called with each exchange that has ended. */
  run(
    input: HandlerInput,
    signal: AbortSignal,
    report?: (exchange: Exchange) => void,
  ): Answer | undefined | Promise<Answer | undefined>;
}

/** Gives handlers in declared order, and says when they change. A dispatch under way keeps what it had. */
export interface HandlerSource {
  handlers(): readonly Handler[];
  /** Calls back after `handlers()` would answer differently; returns the way to stop. */
  subscribe?(listener: () => void): () => void;
}
