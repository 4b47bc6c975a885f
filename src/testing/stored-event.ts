import { HooklineError } from '../base/errors.ts';
import { readTextIfPresent } from '../base/files.ts';
import { isRecord, parseJson } from '../base/json.ts';
import { isEventName } from '../hooks/events.ts';
import type { TraceEntry } from '../trace/entry.ts';
import { getTraceFile } from '../trace/jsonl.ts';
import type { RecordedAnswer } from './record-case.ts';
import type { EventDescription } from './resolve-event.ts';

export interface TracePlace {
  readonly directory: string;
  readonly maxFiles: number;
}

/** An event that was dispatched before, with its verdict. */
export interface StoredEvent {
  readonly id: string;
  readonly fire: EventDescription;
  readonly answer: RecordedAnswer;
  /** Warnings, for example that parts were redacted. */
  readonly notes: readonly string[];
}

/** Finds a dispatch in the trace by its id, the beginning of its id, or `last`. */
export function readStoredEvent(place: TracePlace, id: string): StoredEvent {
  const entries = readEntries(place);
  const found =
    id === 'last' ? entries.slice(0, 1) : entries.filter((each) => each.id.startsWith(id));
  const [entry, second] = found;
  if (entry === undefined || second !== undefined) {
    const many = `${found.length} events have an id that begins with ${JSON.stringify(id)}`;
    throw createNotStoredError(
      entry === undefined ? `no event ${JSON.stringify(id)} is in ${place.directory}` : many,
    );
  }
  return createStoredEvent(entry);
}

type Entry = Pick<TraceEntry, 'id' | 'data' | 'input'> & RecordedAnswer;

/** Newest first; incomplete lines are skipped. */
function readEntries({ directory, maxFiles }: TracePlace): readonly Entry[] {
  return Array.from({ length: maxFiles }, (_, number) => getTraceFile(directory, number)).flatMap(
    (file) =>
      (readTextIfPresent(file) ?? '')
        .split('\n')
        .map((line) => parseJson(line))
        .flatMap((parsed) => (parsed.ok && isDispatch(parsed.value) ? [parsed.value] : []))
        .toReversed(),
  );
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

function createStoredEvent(entry: Entry): StoredEvent {
  const { id, data } = entry;
  if (!isRecord(data) || typeof data['name'] !== 'string' || !isEventName(data['name'])) {
    const why = isRecord(data) && typeof data['cut'] === 'string' ? `: ${data['cut']}` : '';
    throw createNotStoredError(`the trace does not hold the whole event ${id}${why}`);
  }
  const isInputCut = isRecord(entry.input) && typeof entry.input['cut'] === 'string';
  return {
    id,
    fire: { event: data['name'], facts: selectOwnFacts(data) },
    answer: isInputCut ? { ...entry, input: null } : entry,
    notes: [
      ...(isInputCut
        ? ['the rewritten input was cut in the trace, so the case does not expect it']
        : []),
      ...(JSON.stringify(entry).includes('[redacted]')
        ? ['secrets were taken out of the trace; put something harmless in the place of [redacted]']
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

function createNotStoredError(message: string): HooklineError {
  return new HooklineError('PAYLOAD_INVALID', {
    message,
    hint: 'Fire the event and record it at once: `hookline hooks test DIR --record EVENT …`.',
  });
}
