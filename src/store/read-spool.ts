import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { ulid } from 'ulid';
import { isNotFoundError } from '../base/files.ts';
import { isRecord, parseJson } from '../base/json.ts';
import { describeCall } from '../trace/entry.ts';
import { SPOOL_FILE } from '../trace/spool-file.ts';
import { isOrigin, type NewEvent } from './stored-event.ts';

/** The line of an event that waits for the store. Its payload is text where that gives back the same bytes. */
export function formatSpoolLine({ payload, ...event }: NewEvent): string {
  const text = Buffer.from(payload).toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(payload);
  const data = isText ? { payload: text } : { base64: Buffer.from(payload).toString('base64') };
  return `${JSON.stringify({ type: 'event', ...event, ...data })}\n`;
}

/**
 * Lists the files of the folder in the order in which they were written: files of older versions, those that
 * a process took and did not finish, the current one.
 */
export function listSpoolFiles(directory: string): readonly string[] {
  const names = listNames(directory).filter((name) => name.endsWith('.jsonl'));
  const older = names.filter((name) => !name.startsWith(TAKEN) && name !== SPOOL_FILE);
  return [
    ...older.toSorted((one, other) => getAge(other) - getAge(one) || one.localeCompare(other)),
    ...names.filter((name) => name.startsWith(TAKEN)).toSorted(),
    ...names.filter((name) => name === SPOOL_FILE),
  ].map((name) => path.join(directory, name));
}

/** Takes all files of the folder away from those who write them, and lists them in the same order. */
export function takeSpoolFiles(directory: string): readonly string[] {
  return listSpoolFiles(directory).flatMap((file) => {
    const isTaken = path.basename(file).startsWith(TAKEN);
    const taken = isTaken ? file : renameTaken(file);
    return taken === null ? [] : [taken];
  });
}

const TAKEN = 'taken-';

function listNames(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw error;
  }
}

/** Older versions numbered their files: `trace.2.jsonl` is older than `trace.1.jsonl`. */
function getAge(name: string): number {
  return Number(/^trace\.(\d+)\.jsonl$/.exec(name)?.[1] ?? 0);
}

let takenFiles = 0;

/** Null when another process was faster. */
function renameTaken(file: string): string | null {
  const order = String(takenFiles++).padStart(6, '0');
  const taken = path.join(path.dirname(file), `${TAKEN}${ulid()}-${order}.jsonl`);
  try {
    renameSync(file, taken);
    return taken;
  } catch (error) {
    if (isNotFoundError(error)) return null;
    throw error;
  }
}

const PAGE_EVENTS = 500;
const WRITING_MS = 2000;

/** A page of events; `isLeft` on the last one when a line was left because it is probably being written. */
export interface SpoolPage {
  readonly events: readonly NewEvent[];
  readonly isLeft: boolean;
}

/** Reads the events of a taken file, a page at a time. A line that cannot be read becomes an event without a name. */
export function* readSpoolFile(file: string, now: number): Iterable<SpoolPage> {
  const occurrences = new Map<string, number>();
  let events: NewEvent[] = [];
  let isLeft = false;
  for (const { line, isWhole } of readLines(file)) {
    const text = line.toString('utf8');
    if (text.trim() === '') continue;
    isLeft = !isWhole && Math.abs(now - statSync(file).mtimeMs) < WRITING_MS;
    if (!isLeft) events.push(readLine(line, text, { occurrences, now }));
    if (events.length < PAGE_EVENTS) continue;
    yield { events, isLeft: false };
    events = [];
  }
  yield { events, isLeft };
}

const BLOCK_BYTES = 1024 * 1024;
const NEWLINE = 10;

function* readLines(file: string): Iterable<{ line: Buffer; isWhole: boolean }> {
  const descriptor = openSync(file, 'r');
  try {
    let pieces: Buffer[] = [];
    for (const { part, isEnd } of readParts(descriptor)) {
      pieces.push(part);
      if (!isEnd) continue;
      yield { line: Buffer.concat(pieces), isWhole: true };
      pieces = [];
    }
    yield { line: Buffer.concat(pieces), isWhole: false };
  } finally {
    closeSync(descriptor);
  }
}

/** Parts of lines, as blocks of the file cut them. */
function* readParts(descriptor: number): Iterable<{ part: Buffer; isEnd: boolean }> {
  for (;;) {
    const buffer = Buffer.alloc(BLOCK_BYTES);
    const length = readSync(descriptor, buffer, 0, BLOCK_BYTES, null);
    if (length === 0) return;
    const block = buffer.subarray(0, length);
    let from = 0;
    for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, from)) {
      yield { part: block.subarray(from, end), isEnd: true };
      from = end + 1;
    }
    yield { part: block.subarray(from), isEnd: false };
  }
}

interface LineContext {
  /** How often each id was made of the content of a line. */
  readonly occurrences: Map<string, number>;
  readonly now: number;
}

function readLine(line: Buffer, text: string, context: LineContext): NewEvent {
  const parsed = parseJson(text);
  const entry = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  if (entry['type'] === 'event') return readSpooledEvent(entry) ?? readUnknown(line, context);
  return readTraceEntry(entry, line, context) ?? readUnknown(line, context);
}

function readUnknown(line: Buffer, context: LineContext): NewEvent {
  return {
    ...NOTHING_KNOWN,
    id: createContentId(line, context),
    at: context.now,
    receivedAt: context.now,
    payload: line,
  };
}

const NOTHING_KNOWN: Omit<NewEvent, 'id' | 'at' | 'receivedAt' | 'payload'> = {
  agent: 'hookline',
  event: null,
  foreignEvent: null,
  sessionId: null,
  workspace: null,
  tool: null,
  paths: [],
  isVerified: false,
  origin: 'file',
  effect: null,
  hooks: [],
  hasFailed: false,
};

/** An id that the same line always has, so that reading a file twice stores its lines once. */
function createContentId(line: Buffer, { occurrences }: LineContext): string {
  const hash = createHash('sha256').update(line).digest('hex').slice(0, 40);
  const occurrence = occurrences.get(hash) ?? 0;
  occurrences.set(hash, occurrence + 1);
  return occurrence === 0 ? hash : `${hash}-${occurrence}`;
}

type Fields = Readonly<Record<string, unknown>>;

function readSpooledEvent(entry: Fields): NewEvent | null {
  const { id, at, receivedAt, agent, origin, payload, base64 } = entry;
  const bytes =
    typeof base64 === 'string' ? Buffer.from(base64, 'base64') : Buffer.from(toText(payload) ?? '');
  if (typeof id !== 'string' || typeof agent !== 'string' || !isOrigin(origin)) return null;
  if (typeof at !== 'number' || typeof receivedAt !== 'number') return null;
  return {
    id,
    at,
    receivedAt,
    agent,
    event: toText(entry['event']),
    foreignEvent: toText(entry['foreignEvent']),
    sessionId: toText(entry['sessionId']),
    workspace: toText(entry['workspace']),
    tool: toText(entry['tool']),
    paths: toTexts(entry['paths']),
    isVerified: entry['isVerified'] === true,
    origin,
    effect: toText(entry['effect']),
    hooks: toTexts(entry['hooks']),
    hasFailed: entry['hasFailed'] === true,
    payload: bytes,
  };
}

/** Our own dispatch, the late answer of a hook, or a hook's call into its session. */
function readTraceEntry(entry: Fields, line: Buffer, context: LineContext): NewEvent | null {
  const { type, id, event, effect, outcomes, root, cwd } = entry;
  const at = Date.parse(toText(entry['at']) ?? '');
  const common = {
    ...NOTHING_KNOWN,
    at: Number.isNaN(at) ? context.now : at,
    receivedAt: Number.isNaN(at) ? context.now : at,
    sessionId: toText(entry['sessionId']),
    workspace: toText(root) ?? toText(cwd),
    isVerified: true,
    origin: 'dispatch' as const,
    payload: line,
  };
  if (type === 'call' && typeof entry['hook'] === 'string') {
    const foreignEvent = `call: ${toText(entry['call']) ?? ''}`;
    return { ...common, id: createContentId(line, context), foreignEvent, hooks: [entry['hook']] };
  }
  if ((type !== 'dispatch' && type !== 'late') || !Array.isArray(outcomes)) return null;
  const ran = outcomes.filter(isRecord);
  const { tool, paths } = readCall(entry);
  return {
    ...common,
    id: type === 'dispatch' && typeof id === 'string' ? id : createContentId(line, context),
    event: toText(event),
    foreignEvent: type === 'late' ? 'late answer' : null,
    tool,
    paths,
    effect: toText(effect),
    hooks: [...new Set(toTexts(ran.map(({ hook }) => hook)))],
    hasFailed: ran.some(({ status }) => status === 'failed'),
  };
}

/** Entries of older versions hold only the facts of the event. */
function readCall({ call, data }: Fields): Pick<NewEvent, 'tool' | 'paths'> {
  const { tool, paths } = (isRecord(call) ? call : describeCall(data)) ?? {};
  return { tool: toText(tool), paths: toTexts(paths) };
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function toTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
