import { getErrorMessage } from '../base/errors.ts';
import { truncateText } from '../base/json.ts';
import type { Outcome, Verdict } from '../hooks/decision.ts';
import type { DispatchRecord, LateOutcome } from '../hooks/observers.ts';

/** One dispatch as it is stored: event, outcomes, verdict. Plain data with bounded texts. */
export interface TraceEntry {
  readonly type: 'dispatch' | 'late';
  readonly id: string;
  readonly at: string;
  readonly event: string;
  readonly sessionId: string;
  readonly taskId: string;
  readonly cwd: string;
  readonly effect: string;
  readonly aborted: boolean;
  readonly stop: Verdict['stop'];
  readonly reasons: Verdict['reasons'];
  readonly context: Verdict['context'];
  readonly messages: Verdict['messages'];
  readonly outcomes: readonly TraceOutcome[];
  readonly skipped: Verdict['skipped'];
  readonly slowest: Verdict['slowest'];
  readonly input: unknown;
  /** The event's facts, cut when they are long. */
  readonly data: unknown;
}

export type TraceOutcome = Omit<Outcome, 'decision'>;

const TEXT_LIMIT = 8 * 1024;
const LONGEST_SECRET = 1024;

/** Makes the stored form of a dispatch; each text in it is at most 8 KB. */
export function entryOfDispatch({ id, event, verdict, aborted }: DispatchRecord): TraceEntry {
  const { input, ...rest } = verdict;
  return {
    type: 'dispatch',
    id,
    at: isoTime(event.at),
    event: event.name,
    sessionId: event.sessionId,
    taskId: event.taskId,
    cwd: event.cwd,
    effect: verdict.effect,
    aborted,
    stop: rest.stop,
    reasons: rest.reasons,
    context: rest.context,
    messages: rest.messages,
    outcomes: rest.outcomes.map(storedOutcome),
    skipped: rest.skipped,
    slowest: rest.slowest,
    input: boundData(input),
    data: boundData(event),
  };
}

/** A background hook's answer, stored when it comes. */
export function entryOfLate({ dispatchId, event, outcome }: LateOutcome): TraceEntry {
  return {
    type: 'late',
    id: dispatchId,
    at: isoTime(event.at),
    event: event.name,
    sessionId: event.sessionId,
    taskId: event.taskId,
    cwd: event.cwd,
    effect: outcome.effect,
    aborted: false,
    stop: null,
    reasons: [],
    context: [],
    messages: [],
    outcomes: [storedOutcome(outcome)],
    skipped: [],
    slowest: null,
    input: null,
    data: null,
  };
}

/** A time that no calendar has is a caller's mistake, and no reason to lose the entry. */
function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

function storedOutcome({ decision: _decision, ...outcome }: Outcome): TraceOutcome {
  return outcome;
}

/** Data of at most 8 KB as JSON, else what fits of it as text: the rest is not even looked at. */
function boundData(value: unknown): unknown {
  if (value === null) return null;
  try {
    const { json, isCut } = boundedJson(value, TEXT_LIMIT + LONGEST_SECRET);
    if (!isCut && json.length <= TEXT_LIMIT) return value;
    return {
      cut: `longer than ${TEXT_LIMIT} characters, cut`,
      // A secret at the cut must still be whole when it is looked for; the rest goes after that.
      json: truncateText(json, TEXT_LIMIT + LONGEST_SECRET),
    };
  } catch (error) {
    return { cut: `cannot be written as JSON: ${getErrorMessage(error)}` };
  }
}

function boundedJson(value: unknown, limit: number): { json: string; isCut: boolean } {
  let left = limit;
  const json = JSON.stringify(value, (_key, each: unknown) => {
    if (left <= 0) return Array.isArray(each) || typeof each === 'object' ? null : each;
    left -= typeof each === 'string' ? each.length : 4;
    return each;
  });
  return { json: json ?? 'null', isCut: left <= 0 };
}

const DEPTH_LIMIT = 64;

/** Applies a change to every string in plain data, and cuts what is too long or nested too deeply. */
export function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return truncateText(change(value), TEXT_LIMIT);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_LIMIT) return '[nested too deeply]';
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, mapTexts(each, change, depth + 1)]),
  );
}
