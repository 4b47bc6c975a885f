import path from 'node:path';
import { formatTime } from '../base/clock.ts';
import { getErrorMessage } from '../base/errors.ts';
import { isRecord, truncateText } from '../base/json.ts';
import type { Decision, Outcome, Verdict } from '../hooks/decision.ts';
import type { HookEvent } from '../hooks/facts.ts';
import type { DispatchRecord, LateOutcome, RecordedExchange } from '../hooks/dispatch-record.ts';
import { listToolViews } from '../tool-vocabularies/tool-views.ts';
import { dropUndefined } from '../base/defined.ts';
import { decodePayload } from './exchange.ts';

/** One dispatch as it is stored: event, outcomes, verdict, exchanges. Plain data with bounded texts. */
export interface TraceEntry {
  readonly type: 'dispatch' | 'late';
  readonly id: string;
  readonly at: string;
  readonly event: string;
  readonly sessionId: string;
  readonly taskId: string;
  readonly cwd: string;
  /** The primary workspace root, or null. */
  readonly root: string | null;
  /** The tool of the call in Claude's vocabulary, and the files that the call names; null without a call. */
  readonly call: { readonly tool: string; readonly paths: readonly string[] } | null;
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
  readonly exchanges: readonly TraceExchange[];
}

export interface TraceOutcome extends Omit<Outcome, 'decision'> {
  /** What the hook decided, cut when it is long; null when it decided nothing. */
  readonly decision: unknown;
}

/** One exchange with a hook. What came back is in the outcome of the same hook, pass, part and vocabulary. */
export interface TraceExchange extends Pick<
  RecordedExchange,
  'hook' | 'pass' | 'part' | 'vocabulary' | 'asked' | 'cwd' | 'ending' | 'durationMs'
> {
  /** What the hook was sent, cut when it is long. */
  readonly payload: string;
  readonly payloadBytes: number;
}

/** A call of a hook into its session, as it is stored. */
export interface CallEntry {
  readonly type: 'call';
  readonly at: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly root: string | null;
  readonly hook: string;
  readonly call: string;
  readonly text: string | null;
  /** What the hook was answered; null for what it read. */
  readonly answer: unknown;
}

/** Whether an entry was made in a workspace with one of these roots, or nobody knows where; null means any. */
export function isOfWorkspace(
  { root, cwd }: { readonly root?: unknown; readonly cwd?: unknown },
  roots: readonly string[] | null,
): boolean {
  const place = root ?? cwd;
  return roots === null || place === undefined || roots.some((each) => each === place);
}

const TEXT_LIMIT = 8 * 1024;
const LONGEST_SECRET = 1024;

/** Makes the stored form of a dispatch; each text in it is at most 8 KB once it is written. */
export function createDispatchEntry(record: DispatchRecord): TraceEntry {
  const { id, event, verdict, aborted } = record;
  return {
    type: 'dispatch',
    id,
    ...describeMoment(event),
    call: describeCall(event),
    effect: verdict.effect,
    aborted,
    stop: verdict.stop,
    reasons: verdict.reasons,
    context: verdict.context,
    messages: verdict.messages,
    outcomes: verdict.outcomes.map(toTraceOutcome),
    skipped: verdict.skipped,
    slowest: verdict.slowest,
    input: limitData(verdict.input),
    data: limitData(omitMutableInput(event)),
    exchanges: record.exchanges.map(toTraceExchange),
  };
}

/** A background hook's answer, stored when it arrives. */
export function createLateEntry({
  dispatchId,
  event,
  outcome,
  exchanges,
}: LateOutcome): TraceEntry {
  return {
    type: 'late',
    id: dispatchId,
    ...describeMoment(event),
    call: describeCall(event),
    effect: outcome.effect,
    aborted: false,
    stop: null,
    reasons: [],
    context: [],
    messages: [],
    outcomes: [toTraceOutcome(outcome)],
    skipped: [],
    slowest: null,
    input: null,
    data: null,
    exchanges: exchanges.map(toTraceExchange),
  };
}

/** Makes the stored form of a hook's call into its session. */
export function createCallEntry(
  call: Pick<CallEntry, 'hook' | 'call' | 'text'>,
  answer: unknown,
  { at, ...place }: Pick<CallEntry, 'sessionId' | 'cwd' | 'root'> & { readonly at: number },
): CallEntry {
  return { type: 'call', at: formatTime(at), ...place, ...call, answer: limitData(answer) };
}

/** The copy of the input that hooks change in place belongs to the dispatch and is not a fact of the event. */
function omitMutableInput(event: HookEvent): HookEvent {
  if (!('handed' in event)) return event;
  const { handed: _handed, ...facts } = event;
  return facts;
}

/** Describes the call of an event, also of a stored one, in Claude's vocabulary. */
export function describeCall(event: unknown): TraceEntry['call'] {
  if (!isRecord(event) || !isRecord(event['tool'])) return null;
  const { tool, cwd, workspaceRoots } = event;
  const { name, input } = tool;
  if (typeof name !== 'string' || typeof cwd !== 'string') return null;
  const root: unknown = Array.isArray(workspaceRoots) ? workspaceRoots[0] : null;
  const context = { cwd, root: typeof root === 'string' ? root : null };
  const views = listToolViews({ name, input }, 'claude', context);
  return { tool: views[0]?.name ?? name, paths: views.flatMap((view) => listPaths(view, cwd)) };
}

const PATH_KEYS = ['file_path', 'notebook_path', 'path'];

function listPaths({ input }: { readonly input: unknown }, cwd: string): readonly string[] {
  if (!isRecord(input)) return [];
  const written = PATH_KEYS.map((key) => input[key]).find((value) => typeof value === 'string');
  return written === undefined || written === '' ? [] : [path.resolve(cwd, written)];
}

type EntryMoment = Pick<TraceEntry, 'at' | 'event' | 'sessionId' | 'taskId' | 'cwd' | 'root'>;

function describeMoment(event: HookEvent): EntryMoment {
  const { name, sessionId, taskId, cwd, workspaceRoots } = event;
  const root = workspaceRoots[0] ?? null;
  return { at: formatTime(event.at), event: name, sessionId, taskId, cwd, root };
}

function toTraceOutcome({ decision, ...outcome }: Outcome): TraceOutcome {
  const isPlain = decision?.reasonAsResult === undefined;
  return { ...outcome, decision: limitData(isPlain ? decision : omitForm(decision)) };
}

/** The form of a denial is for the agent, and no part of the decision. */
function omitForm({ reasonAsResult: _form, ...decision }: Decision): Decision {
  return decision;
}

function toTraceExchange(exchange: RecordedExchange): TraceExchange {
  const { hook, pass, part, vocabulary, asked, cwd, ending, durationMs, payload } = exchange;
  return {
    hook,
    pass,
    part,
    ...dropUndefined({ vocabulary }),
    asked,
    cwd,
    payload: decodePayload(payload, TEXT_LIMIT + LONGEST_SECRET),
    payloadBytes: payload.length,
    ending,
    durationMs,
  };
}

/** Data of at most 8 KB as JSON, else as much of it as text as fits; the rest is not read. */
function limitData(value: unknown): unknown {
  if (value === null) return null;
  try {
    const { json, isCut } = serializeWithinLimit(value, TEXT_LIMIT + LONGEST_SECRET);
    if (!isCut && json.length <= TEXT_LIMIT) return value;
    return {
      cut: `longer than ${TEXT_LIMIT} characters, cut`,
      // A secret at the cut must be complete while texts are redacted; the text is cut afterwards.
      json: truncateText(json, TEXT_LIMIT + LONGEST_SECRET),
    };
  } catch (error) {
    return { cut: `cannot be written as JSON: ${getErrorMessage(error)}` };
  }
}

function serializeWithinLimit(value: unknown, limit: number): { json: string; isCut: boolean } {
  let remaining = limit;
  const json = JSON.stringify(value, (_key, each: unknown) => {
    if (remaining <= 0) return Array.isArray(each) || typeof each === 'object' ? null : each;
    remaining -= typeof each === 'string' ? each.length : 4;
    return each;
  });
  return { json: json ?? 'null', isCut: remaining <= 0 };
}

/** Cuts the texts of an entry before it is written; a secret at the cut stays complete, so that it can be redacted. */
export function limitTexts(entry: TraceEntry | CallEntry): unknown {
  return mapTexts(entry, (text) => truncateText(text, TEXT_LIMIT + LONGEST_SECRET));
}

/** Redacts a text; `name` is the field that holds it. */
export type Redact = (text: string, name: string) => string;

/** Redacts the texts of a stored entry, and then cuts them, so that no half of a secret stays. */
export function redactEntry(entry: unknown, redact: Redact): unknown {
  return mapTexts(entry, (text, name) => truncateText(redact(text, name), TEXT_LIMIT));
}

const DEPTH_LIMIT = 64;

/** Applies a change to every string in plain data and the name of its field, and cuts what is nested too deeply. */
function mapTexts(value: unknown, change: Redact, name = '', depth = 0): unknown {
  if (typeof value === 'string') return change(value, name);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_LIMIT) return '[nested too deeply]';
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change, name, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, mapTexts(each, change, key, depth + 1)]),
  );
}
