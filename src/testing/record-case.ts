import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage, HooklineError } from '../base/errors.ts';
import { readTextIfPresent } from '../base/files.ts';
import { isRecord, parseJson } from '../base/json.ts';
import type { Attributed, Outcome, Stop, Verdict } from '../hooks/decision.ts';
import { CASE_FILE, readOwnDirectories } from './case.ts';
import { createCaseError, parseCase } from './case-fields.ts';
import { listWithheldHooks, findReasonsToWithhold } from './case-trust.ts';
import { type Difference, formatDifference, type Placeholders } from './expectation.ts';
import type { FireDescription, EventDescription } from './resolve-event.ts';
import { fireAt, mapTexts, type RunCaseOptions, withCaseHost } from './run-case.ts';
import { isEventName } from '../hooks/events.ts';
import { redactText } from '../host/redact-object.ts';
import type { EventStore, StoredEvent } from '../store/event-store.ts';
import { isOfWorkspace, redactEntry, type TraceEntry } from '../trace/entry.ts';
import { decodePayload } from '../trace/exchange.ts';

export interface RecordRequest extends RunCaseOptions {
  /** The case's directory; created when it does not exist. */
  readonly directory: string;
  readonly fire: FireDescription;
  /** Allows replacing an existing case; all fields but its event and expectation stay. */
  readonly replace?: boolean;
}

export interface RecordedCase {
  readonly file: string;
  readonly verdict: Verdict;
}

/** Fires an event and writes it, with its verdict, as a case. */
export async function recordCase(request: RecordRequest): Promise<RecordedCase> {
  const { directory, fire } = request;
  const draft = prepareCase(directory, fire, request.replace === true);
  const own = readOwnDirectories(directory);
  const hookCase = { ...draft.fields, own, directory, name: path.basename(directory) };
  refuseWithheld(directory, findReasonsToWithhold(hookCase, request));
  return withCaseHost(hookCase, request, async (caseHost) => {
    const verdict = await fireAt(caseHost, fire, request.signal);
    refuseWithheld(directory, listWithheldHooks(verdict.skipped));
    writeCase(draft, fire, verdict, caseHost.placeholders);
    return { file: draft.file, verdict };
  });
}

/** The recorded fields of a new or stored verdict. */
interface RecordedAnswer {
  readonly effect: string;
  readonly stop: Stop | null;
  readonly reasons: readonly Attributed[];
  readonly context: readonly Attributed[];
  readonly messages: readonly Attributed[];
  readonly input: unknown;
  readonly output?: unknown;
  readonly changes?: Readonly<Record<string, unknown>>;
  readonly outcomes: readonly Pick<Outcome, 'hook' | 'status' | 'effect' | 'failure'>[];
}

/** Writes a case of an event that was fired before. Returns the path of its case.json. */
export function recordStored(
  directory: string,
  { fire, answer }: Pick<StoredDispatch, 'fire' | 'answer'>,
  placeholders: Placeholders,
  replace: boolean,
): string {
  const draft = prepareCase(directory, fire, replace);
  writeCase(draft, fire, answer, placeholders);
  return draft.file;
}

/** `otherFields` are those of an earlier case besides its event and expectation. */
function prepareCase(directory: string, fire: FireDescription, replace: boolean) {
  const file = path.join(directory, CASE_FILE);
  const before = readTextIfPresent(file);
  if (before !== null && !replace) {
    throw createCaseError(file, 'it already exists', 'Use --force, or choose another directory.');
  }
  const parsed = parseJson(before ?? '{}');
  const {
    fire: _fire,
    expect: _expect,
    ...otherFields
  } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  const text = JSON.stringify({ ...otherFields, fire, expect: { effect: 'pass' } });
  return { file, otherFields, fields: parseCase(text, file) };
}

function refuseWithheld(directory: string, withheld: readonly Difference[]): void {
  if (withheld.length === 0) return;
  const reasons = withheld.map(formatDifference).join('; ');
  throw createCaseError(directory, `a case without its hooks would prove nothing: ${reasons}`);
}

function writeCase(
  { file, otherFields }: { file: string; otherFields: Readonly<Record<string, unknown>> },
  fire: FireDescription,
  answer: RecordedAnswer,
  placeholders: Placeholders,
): void {
  const places = [...placeholders].filter(([, value]) => path.dirname(value) !== value);
  const inFire = places.filter(([name]) => name !== '$HOME');
  const caseContent = {
    ...otherFields,
    fire: mapTexts(fire, (text) => withPlaceholders(text, inFire)),
    expect: mapTexts(selectStableParts(answer), (text) => withPlaceholders(text, places)),
  };
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(caseContent, null, 2)}\n`);
  } catch (error) {
    throw createCaseError(file, `it cannot be written: ${getErrorMessage(error)}`);
  }
}

/** Selects the parts that are the same in another run, on another machine. */
function selectStableParts(answer: RecordedAnswer): Readonly<Record<string, unknown>> {
  const { effect, stop, reasons, context, messages, input, output, changes, outcomes } = answer;
  return {
    effect,
    ...(stop === null ? {} : { stop }),
    reasons: reasons.map(({ text }) => text),
    ...(input === null ? {} : { input }),
    ...(output === null || output === undefined ? {} : { output }),
    ...(Object.keys(changes ?? {}).length === 0 ? {} : { changes }),
    context: context.map(({ text }) => text),
    ...(messages.length === 0 ? {} : { messages: messages.map(({ text }) => text) }),
    outcomes: outcomes.map(({ hook, status, effect: ownEffect, failure }) => ({
      hook,
      status,
      effect: ownEffect,
      ...(failure === null ? {} : { failure: { kind: failure.kind } }),
    })),
  };
}

function withPlaceholders(text: string, places: readonly (readonly [string, string])[]): string {
  return places
    .toSorted(([, one], [, other]) => other.length - one.length)
    .reduce((written, [name, value]) => written.replaceAll(value, () => name), text);
}

/** An event that was dispatched before, with its verdict. */
interface StoredDispatch {
  readonly id: string;
  /** Which event it was, when and where. */
  readonly origin: string;
  readonly fire: EventDescription;
  readonly answer: RecordedAnswer;
  /** Warnings, for example that parts were redacted. */
  readonly notes: readonly string[];
}

/** Finds a dispatch in the event store by its id, the beginning of its id, or `last`: of these workspace roots, or of all. */
export function readStoredEvent(
  store: Pick<EventStore, 'list' | 'findByPrefix'>,
  id: string,
  roots: readonly string[] | null = null,
): StoredDispatch {
  const found = id === 'last' ? findLast(store, roots) : findByPrefix(store, id);
  const [entry, second] = found;
  if (entry === undefined || second !== undefined) {
    const many = `${found.length} events have an id that begins with ${JSON.stringify(id)}`;
    const isElsewhere = entry === undefined && id === 'last' && findLast(store, null).length > 0;
    const place = roots === null ? '' : ` for ${roots.join(', ')}`;
    throw createNotStoredError(
      entry === undefined
        ? `event ${JSON.stringify(id)} not found in the event store${id === 'last' ? place : ''}`
        : many,
      isElsewhere ? 'With --all the last event of any workspace is taken.' : undefined,
    );
  }
  return createStoredDispatch(entry);
}

type Entry = Pick<TraceEntry, 'id' | 'at' | 'cwd' | 'root' | 'data' | 'input'> & RecordedAnswer;

const MOST_FOUND = 100;

function findByPrefix(store: Pick<EventStore, 'findByPrefix'>, id: string): readonly Entry[] {
  return store.findByPrefix(id, MOST_FOUND).flatMap(readEntry);
}

/** The newest are read first: the last event of a workspace is nearly always among them. */
function findLast(
  store: Pick<EventStore, 'list'>,
  roots: readonly string[] | null,
): readonly Entry[] {
  for (const limit of [MOST_FOUND, Number.MAX_SAFE_INTEGER]) {
    let last: Entry | null = null;
    for (const event of store.list({ agent: 'hookline', limit })) {
      const [entry] = readEntry(event);
      if (entry !== undefined && isOfWorkspace(entry, roots)) last = entry;
    }
    if (last !== null) return [last];
  }
  return [];
}

/** Redacted, because a case is a file of the workspace. */
function readEntry({ payload }: Pick<StoredEvent, 'payload'>): readonly Entry[] {
  const parsed = parseJson(decodePayload(payload));
  const entry = parsed.ok ? redactEntry(parsed.value, redactText) : null;
  return isDispatch(entry) ? [entry] : [];
}

const LISTS = ['reasons', 'context', 'messages', 'outcomes'];

function isDispatch(value: unknown): value is Entry {
  return (
    isRecord(value) &&
    value['type'] === 'dispatch' &&
    typeof value['id'] === 'string' &&
    typeof value['effect'] === 'string' &&
    LISTS.every((key) => Array.isArray(value[key]) && value[key].every(isRecord))
  );
}

function createStoredDispatch(entry: Entry): StoredDispatch {
  const { id, data } = entry;
  if (!isRecord(data) || typeof data['name'] !== 'string' || !isEventName(data['name'])) {
    const why = isRecord(data) && typeof data['cut'] === 'string' ? `: ${data['cut']}` : '';
    throw createNotStoredError(`the trace does not hold the whole event ${id}${why}`);
  }
  const isInputCut = isRecord(entry.input) && typeof entry.input['cut'] === 'string';
  return {
    id,
    origin: `${data['name']} of ${entry.at} in ${entry.root ?? entry.cwd}`,
    fire: { event: data['name'], facts: selectOwnFacts(data) },
    answer: isInputCut ? { ...entry, input: null } : entry,
    notes: [
      ...(isInputCut
        ? ['the rewritten input was cut in the trace, so the case does not expect it']
        : []),
      ...(JSON.stringify(entry).includes('[redacted]')
        ? ['secrets were redacted in the trace; replace [redacted] with something harmless']
        : []),
    ],
  };
}

// These facts are new for every session and do not describe the event.
const SESSION_FACTS = new Set([
  'sessionId',
  'taskId',
  'ulid',
  'at',
  'startDirectory',
  'workspaceRoots',
  'agent',
  'userId',
  'version',
  'transcriptPath',
  'promptId',
]);

function selectOwnFacts({
  name: _name,
  ...data
}: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([key]) => !SESSION_FACTS.has(key)));
}

function createNotStoredError(
  message: string,
  hint = 'Fire the event and record it at once: `hookline hooks test DIR --record EVENT …`.',
): HooklineError {
  return new HooklineError('PAYLOAD_INVALID', { message, hint });
}
