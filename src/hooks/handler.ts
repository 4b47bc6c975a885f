import type { Decision, Failure, FailurePolicy } from './decision.ts';
import type { ToolCall, ToolView, Vocabulary } from '../tool-vocabularies/tool-views.ts';
import type { EventName, HookEvent } from './facts.ts';

/** The argument of a handler. All handlers of one vocabulary get the same object. */
export interface HandlerInput {
  readonly event: HookEvent;
  /** The tool call in the handler's own vocabulary; null for events without a tool. */
  readonly tool: ToolView | null;
  /** Set when the vocabulary was chosen for this call: then `tool` is in this one. */
  readonly asked?: AskedVocabulary;
}

export interface AskedVocabulary {
  readonly vocabulary: Vocabulary;
  /** Of several askings about one call, only the first may rewrite it. */
  readonly isFirst: boolean;
}

/** One vocabulary in which a handler is asked about a call. */
export interface Asking {
  readonly vocabulary: Vocabulary;
  /** Whether the tool has exactly the name that the model used. */
  readonly isAsCalled: boolean;
  /** Why it is asked in this vocabulary, for the user: `its text names write_to_file`. */
  readonly why: string;
}

/** The input and output of one call of a hook. */
export interface Exchange {
  /** The command line, or the address, that was called. */
  readonly asked: string;
  /** Where a program ran; null for what is no program. */
  readonly cwd: string | null;
  /** The bytes that it was sent. Hooks of one encoding share them, so they must not be changed. */
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
  /** The policy for this failure, where it is stricter than that of the handler: one reading of its output refuses. */
  readonly onFailure?: FailurePolicy;
  /**
   * Why the hook may not have done its work although it ended well. It then allows nothing, the user is
   * warned, and where failures refuse it is a failure.
   */
  readonly suspicion?: string;
  readonly notes?: readonly string[];
  /** Parts of the answer that were not read and are probably mistakes. The user is warned of each. */
  readonly warnings?: readonly string[];
  /** How its program ended, for the trace. */
  readonly program?: {
    readonly exitCode: number | null;
    readonly stdout: string;
    readonly stderr: string;
  };
  /** Set when the handler continues in the background; its real answer comes here. */
  readonly late?: Promise<Answer>;
}

/** Identifies the handlers that are started together, without waiting between them. */
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
  /** The location of its definition, in a form that the user recognizes. */
  readonly source: string;
  readonly event: EventName;
  /** The vocabulary in which this handler sees tools. */
  readonly vocabulary: Vocabulary;
  /**
   * Chooses in which vocabularies it is asked about a call; empty for its own alone. Asked in several,
   * its strictest answer holds. Must depend on nothing but the call.
   */
  readonly chooseAskings?: (call: ToolCall) => readonly Asking[];
  /**
   * Why its answer about a call cannot be relied on, such as a name of the tool that it does not know; null
   * for most calls. The same as `Answer.suspicion`. Must depend on nothing but the call.
   */
  readonly findSuspicion?: (call: ToolCall) => string | null;
  readonly onFailure: FailurePolicy;
  /** How its author makes it answer, after this failure; null when nothing is known. */
  readonly advise?: (failure: Failure) => string | null;
  /** The profile of the sandbox that its program runs in; absent for a hook without one. */
  readonly sandbox?: string;
  /**
   * Handlers that share this are one hook, configured more than once: of those that would run, the one
   * with the greatest `strictness` does, and of equals the last.
   */
  readonly sameAs?: string;
  /** How reliably it guards, compared number by number, so that no copy weakens a guard. */
  readonly strictness?: readonly number[];
  /** Waits for every handler declared before it, and sees their rewrites. */
  readonly inOrder?: boolean;
  /** Gets a copy of the input that it shares with other ordered handlers, and may change that copy in place. */
  readonly isHanded?: boolean;
  /** Is started without waiting for it; its answer arrives at `onLate`. */
  readonly background?: boolean;
  /** Enforced by the engine. A handler that runs a program leaves it to the runner, which kills the tree. */
  readonly timeoutMs?: number;
  /**
   * Why it does not fit this event, or null when it does. `names` are all names of the tool, or the
   * subject; `tool` is the part of the call that it would get. The function is called once for all
   * handlers that share it, so its result must depend on nothing else.
   */
  readonly fits?: (
    event: HookEvent,
    names: readonly string[],
    tool: ToolView | null,
  ) => string | null;
  /**
   * Why it may not run now (`untrusted`, `modified`, `disabled`), or null. Called right before each
   * run; a result for one handler of a wave holds for all others of it.
   */
  withheld?(wave?: Wave): string | null;
  /**
   * Prepares what `run` needs, such as a payload, for a handler that never answers synchronously. Called
   * before several are started, because Node.js is slow for a while after it started a process.
   */
  prepare?(input: HandlerInput): void;
  /** `report`, if present, must be called with each exchange that has ended. */
  run(
    input: HandlerInput,
    signal: AbortSignal,
    report?: (exchange: Exchange) => void,
  ): Answer | undefined | Promise<Answer | undefined>;
}

/** Lists handlers in declared order, and notifies of changes. A running dispatch is not affected by a change. */
export interface HandlerSource {
  handlers(): readonly Handler[];
  /** Calls back when `handlers()` has changed; returns a function that unsubscribes. */
  subscribe?(listener: () => void): () => void;
}
