import type { Vocabulary } from '../tool-vocabularies/tool-views.ts';

/** From mildest to strictest; several answers merge to the strictest. */
export const EFFECTS = ['pass', 'allow', 'ask', 'defer', 'deny'] as const;
export type Effect = (typeof EFFECTS)[number];

/** Ends the run. `skip`: the pending action does not happen; `run`: it does, then the run ends. */
export interface Stop {
  readonly reason: string;
  readonly pending: 'skip' | 'run';
}

/** What a decision may change besides the effect; each event's row lists the allowed fields. */
export interface Changes {
  /** The tool's input, in the vocabulary of the handler that gives it. */
  readonly input?: unknown;
  /** The tool's output, as the model gets it. */
  readonly output?: unknown;
  /** Whether `output` is that of a failed call; by default as the call ended. */
  readonly failed?: boolean;
  /** Text for the model. */
  readonly context?: string;
  readonly prompt?: string;
  /** The refused prompt is not repeated to the user. */
  readonly suppressPrompt?: boolean;
  /** Text for the classifier that judges later calls. */
  readonly classifierContext?: string;
  readonly permissions?: readonly unknown[];
  /** For a request all messages; for an answer the one that replaces it. */
  readonly messages?: readonly unknown[];
  readonly tools?: readonly unknown[];
  readonly options?: unknown;
  readonly title?: string;
  readonly initialMessage?: string;
  readonly instructions?: string;
  readonly watchPaths?: readonly string[];
  readonly reloadSkills?: boolean;
  readonly display?: string;
  readonly retry?: boolean;
  readonly worktreePath?: string;
  readonly answer?: unknown;
}

export type ChangeField = keyof Changes;

/** One handler's answer. An empty object, like no answer at all, means `pass`. */
export interface Decision extends Changes {
  /** The vocabulary in which `input` is written, when it is not the handler's own. */
  readonly inputFace?: Vocabulary;
  readonly effect?: Effect;
  readonly reason?: string;
  /** The reason of a refused call is its result; otherwise it is reported as the error of a hook. */
  readonly reasonAsResult?: boolean;
  readonly stop?: Stop;
  /** Text for the user, never for the model. */
  readonly notice?: string;
  /** A late answer that wakes an idle session with its context. */
  readonly wake?: boolean;
}

/** The decision of every handler without an answer. */
export const NO_DECISION: Decision = Object.freeze({});

export const FAILURE_KINDS = [
  'spawn',
  'timeout',
  'killed',
  'exit',
  'output',
  'threw',
  /** Where its hook is configured cannot be read; nothing was started. */
  'config',
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  /** What the author of the hook can do about it. */
  readonly hint?: string;
}

/** Whether a failing handler lets the action go on (`open`) or refuses it (`closed`). */
export type FailurePolicy = 'open' | 'closed';

/** What happened when one handler ran. */
export interface Outcome {
  readonly hook: string;
  readonly dialect: string;
  readonly source: string;
  readonly status: 'decided' | 'failed' | 'background';
  readonly effect: Effect | 'stop';
  /** 2 when the handler was asked again because another one rewrote the input. */
  readonly pass: 1 | 2;
  /** Which part of a plural tool call this was about, from 0; null for the whole call. */
  readonly part: number | null;
  /** The vocabulary in which it was asked, when that was chosen for this call. */
  readonly vocabulary?: Vocabulary;
  /** The profile of the sandbox that its program runs in; absent for a hook without one. */
  readonly sandbox?: string;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly failure: Failure | null;
  readonly onFailure: FailurePolicy;
  readonly notes: readonly string[];
  /** Mistakes in its answer, such as a misspelt key; absent without any. */
  readonly warnings?: readonly string[];
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly decision: Decision | null;
}

export interface Attributed {
  readonly hook: string;
  readonly text: string;
}

export const SKIP_KINDS = ['misfit', 'withheld', 'order', 'repeat'] as const;

/**
 * A handler that did not run: it does not fit, may not run now, its turn did not come, or the same
 * hook is configured again further on.
 */
export interface Skipped {
  readonly hook: string;
  readonly kind: (typeof SKIP_KINDS)[number];
  readonly why: string;
}

/** All outcomes of one dispatch merged: what the caller must do. */
export interface Verdict {
  readonly event: string;
  /** The strictest effect; `stop` when the run must end without the pending action. */
  readonly effect: Effect | 'stop';
  readonly stop: Stop | null;
  readonly reasons: readonly Attributed[];
  /** The rewritten tool input in the vocabulary of the call, or null when it stays as it is. */
  readonly input: unknown;
  readonly output: unknown;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly context: readonly Attributed[];
  /** Shown to the user. */
  readonly messages: readonly Attributed[];
  /** One for every handler that ran, in declared order. */
  readonly outcomes: readonly Outcome[];
  /** Every handler of this event that did not run, with the reason. */
  readonly skipped: readonly Skipped[];
  readonly slowest: { readonly hook: string; readonly durationMs: number } | null;
}

export function pickStrictest(one: Effect, other: Effect): Effect {
  return EFFECTS.indexOf(one) >= EFFECTS.indexOf(other) ? one : other;
}

/** Whether the handler is withheld until it is trusted; a disabled one is not. */
export function isAwaitingTrust({ kind, why }: Skipped): boolean {
  return kind === 'withheld' && why !== 'disabled';
}

/** Whether the action must not happen. */
export function isRefusal(effect: Effect | 'stop'): boolean {
  return effect === 'deny' || effect === 'stop';
}

/** Ids of the hooks that refused the action or ended the run. */
export function listRefusingHooks({ outcomes }: Verdict): readonly string[] {
  const refusing = outcomes.filter(
    ({ effect, decision }) => isRefusal(effect) || decision?.stop !== undefined,
  );
  return [...new Set(refusing.map(({ hook }) => hook))];
}

/** The verdict when no hook ran, or none decided anything. */
export function createEmptyVerdict(
  event: string,
  results: Pick<Verdict, 'outcomes' | 'skipped' | 'slowest'> = {
    outcomes: [],
    skipped: [],
    slowest: null,
  },
): Verdict {
  return {
    event,
    effect: 'pass',
    stop: null,
    reasons: [],
    input: null,
    output: null,
    changes: {},
    context: [],
    messages: [],
    outcomes: results.outcomes,
    skipped: results.skipped,
    slowest: results.slowest,
  };
}

/** Joins the texts of several hooks, or returns null when there is none. */
export function joinTexts(texts: readonly Attributed[]): string | null {
  return texts.length === 0 ? null : texts.map(({ text }) => text).join('\n');
}

/** Joins what several hooks tell the model, with one blank line between two of them; empty for none. */
export function joinContexts(contexts: readonly string[]): string {
  const [first = '', ...others] = contexts;
  return others.reduce(
    (joined, text) => `${joined.trimEnd()}\n\n${text.replace(/^\s*\n/, '')}`,
    first,
  );
}

/** Lists the values that several hooks gave for a joined field. */
export function listJoined(joined: unknown): readonly unknown[] {
  if (!Array.isArray(joined)) return [];
  return joined.flatMap((each: unknown): readonly unknown[] => {
    const isAttributed = typeof each === 'object' && each !== null && 'value' in each;
    const value: unknown = isAttributed ? each.value : each;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values;
  });
}
