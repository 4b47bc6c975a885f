import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { getErrorMessage } from '../base/errors.ts';
import { isRecord, parseJson } from '../base/json.ts';
import type { EventStore, NewEvent } from '../store/event-store.ts';
import { isOwnArrayFile, writeNewArrayFile } from './array-file.ts';
import { createEvent } from './create-event.ts';
import { formatStamp, LOCK_WAIT_MS, nameWaitingFile, parseOwnElement } from './fallback-file.ts';
import { runLocked } from './file-lock.ts';
import { readElements } from './read-elements.ts';
import {
  type ImportMachine,
  isEmpty,
  listDirectories,
  listFiles,
  listWaitingFiles,
  readNames,
} from './waiting-files.ts';

export interface ImportReport {
  /** Events that were not stored yet. */
  readonly eventCount: number;
  /** What could not be imported, with its place. */
  readonly problems: readonly string[];
}

/**
 * Takes the events that clients have stored in files into the store, in order, and renames the files to backups. An event is
 * stored once, however often its file is imported: it has an id, or gets the hash of its content as one. Several processes may do this
 * at the same time. Rejects when the store takes nothing; the files stay as they are then.
 */
export async function importFallbackFiles(
  store: EventStore,
  machine: ImportMachine,
): Promise<ImportReport> {
  const problems: string[] = [];
  let eventCount = 0;
  for (const directory of listDirectories(machine)) {
    for (const { agent, file } of listFiles(directory)) {
      const problem = setAside(file);
      if (problem !== null) problems.push(problem);
      for (const waiting of listWaitingFiles(file)) {
        const imported = await importFile(store, agent, waiting);
        eventCount += imported.eventCount;
        problems.push(...imported.problems);
      }
      removeOldBackups(file);
    }
  }
  return { eventCount, problems };
}

/** Renames the file, so that new events go to another one while it is imported; returns why that was not possible. */
function setAside(file: string): string | null {
  try {
    if (isEmpty(file)) return null;
    if (!lstatSync(file).isFile()) return `${file} is not a regular file`;
    const locked = runLocked(file, LOCK_WAIT_MS, () => {
      renameSync(file, nameWaitingFile(file, String(process.pid)));
      // Programs that read this file expect an array in it.
      writeNewArrayFile(file, []);
    });
    return locked === null ? `${file} is locked by another process` : null;
  } catch (error) {
    return `${file} cannot be imported: ${getErrorMessage(error)}`;
  }
}

const BATCH_EVENTS = 500;

async function importFile(store: EventStore, agent: string, file: string): Promise<ImportReport> {
  const found = readEvents(agent, file);
  if (typeof found === 'string') return { eventCount: 0, problems: [found] };
  let eventCount = 0;
  for (let at = 0; at < found.events.length; at += BATCH_EVENTS) {
    const results = await store.append(found.events.slice(at, at + BATCH_EVENTS));
    eventCount += results.filter((result) => result === 'stored').length;
  }
  const backup = backUp(file);
  const problems = found.problems.map((problem) => `${backup ?? file}: ${problem}`);
  return { eventCount, problems };
}

interface FoundEvents {
  readonly events: readonly NewEvent[];
  readonly problems: readonly string[];
}

const ACCESS_OF_OTHERS = 0o077;

/** Reads the events of a file; a text says why it was left alone. */
function readEvents(agent: string, file: string): FoundEvents | string {
  try {
    const stats = lstatSync(file);
    if (!stats.isFile()) return `${file} is not a regular file`;
    const uid = process.getuid?.() ?? stats.uid;
    if (stats.uid !== uid) return `${file} belongs to another user`;
    const isPrivate = (stats.mode & ACCESS_OF_OTHERS) === 0;
    const { elements, problems } = readElements(readFileSync(file));
    return collectEvents(elements, problems, { agent, isPrivate });
  } catch (error) {
    return `${file} cannot be imported: ${getErrorMessage(error)}`;
  }
}

function collectEvents(
  elements: readonly string[],
  problems: readonly string[],
  source: { readonly agent: string; readonly isPrivate: boolean },
): FoundEvents {
  const places = new Map<string, number>();
  const events: NewEvent[] = [];
  const found = [...problems];
  for (const [index, json] of elements.entries()) {
    const parsed = parseJson(json);
    if (!parsed.ok) found.push(`element ${index} is not JSON: ${parsed.error}`);
    else if (!isRecord(parsed.value)) found.push(`element ${index} is not an object`);
    else events.push(toEvent(json, parsed.value, { ...source, places }));
  }
  return { events, problems: found };
}

interface ElementSource {
  readonly agent: string;
  readonly isPrivate: boolean;
  /** How many elements with the same content were found so far. */
  readonly places: Map<string, number>;
}

function toEvent(
  json: string,
  value: Readonly<Record<string, unknown>>,
  { agent, isPrivate, places }: ElementSource,
): NewEvent {
  const own = parseOwnElement(json);
  const raw = value['__hook_raw'];
  const text = typeof raw === 'string' ? raw : (own?.text ?? json);
  return createEvent({
    agent,
    id: own?.id ?? computeId(agent, value, places),
    receivedAt: own?.receivedAt ?? readReceivedAt(value),
    isVerified: own !== null && isPrivate,
    origin: own === null ? 'import' : 'file',
    payload: Buffer.from(text),
    value: typeof raw === 'string' ? null : value,
  });
}

/** Of the agent, the content and its place among equals: the same file gives the same ids every time. */
function computeId(agent: string, value: unknown, places: Map<string, number>): string {
  const content = createHash('sha256')
    .update(`${agent}\0${JSON.stringify(value)}`)
    .digest('hex');
  const place = places.get(content) ?? 0;
  places.set(content, place + 1);
  return createHash('sha256').update(`${content}\0${place}`).digest('hex');
}

function readReceivedAt(value: Readonly<Record<string, unknown>>): number {
  const { __hook_received: received, __hook_timestamp: timestamp } = value;
  if (typeof received === 'number' && Number.isFinite(received)) return received;
  const parsed = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(parsed) ? systemClock.now() : parsed;
}

/** Returns the new name; null when another process was faster. */
function backUp(file: string): string | null {
  const base = file.replace(/\.part-[^/\\]*\.json$/, '');
  for (let number = 0; ; number++) {
    const distinction = number === 0 ? '' : `-${number}`;
    const backup = `${base}.backup-${formatStamp()}${distinction}.json`;
    if (lstatSync(backup, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      renameSync(file, backup);
      return backup;
    } catch {
      return null;
    }
  }
}

/** Their events are in the store, so a few are enough for whoever wants to look one up. */
const MOST_BACKUPS = 20;

/** Removes the oldest backups of what forwarders wrote; those with events of other programs stay. */
function removeOldBackups(file: string): void {
  const prefix = `${path.basename(file, '.json')}.backup-`;
  const directory = path.dirname(file);
  const backups = readNames(directory).filter((name) => name.startsWith(prefix));
  for (const name of backups.slice(0, -MOST_BACKUPS)) {
    const backup = path.join(directory, name);
    if (isOwnArrayFile(backup)) rmSync(backup, { force: true });
  }
}
