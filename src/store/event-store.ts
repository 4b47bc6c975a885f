import { systemClock } from '../base/clock.ts';
import { getErrorMessage } from '../base/errors.ts';
import { classifyError, type SqlValue } from './driver.ts';
import { type AppendResult, EventWriter } from './event-writer.ts';
import { type EventFilter, listEvents } from './list-events.ts';
import {
  DEFAULT_RETENTION,
  pruneEvents,
  readUsedBytes,
  releasePages,
  removeEvents,
  type Retention,
} from './retention.ts';
import { StoreFile } from './store-file.ts';
import { type NewEvent, type StoredEvent, toNumber, toStoredEvent } from './stored-event.ts';
import { type ChainReport, verifyChain } from './verify-chain.ts';

export type { AppendResult } from './event-writer.ts';
export type { EventFilter } from './list-events.ts';
export type { Retention } from './retention.ts';
export type { EventOrigin, NewEvent, StoredEvent } from './stored-event.ts';

/** The events of all agents on this machine, in `events.db`. Several processes may write and read it. */
export interface EventStore {
  /**
   * Settles when the events are on disk (`synchronous = FULL`). What came in one tick is one transaction.
   * An event whose id is stored already is a duplicate. While the database cannot be used, events go to
   * the spool, on disk as well, and count as stored. Rejects when neither takes them.
   */
  append(events: readonly NewEvent[]): Promise<readonly AppendResult[]>;
  /** Reads page by page, the newest last. As all that reads, it throws when the database cannot be used. */
  list(filter?: EventFilter): Iterable<StoredEvent>;
  find(id: string): StoredEvent | null;
  /** The events whose id begins so, at most `limit`. */
  findByPrefix(prefix: string, limit: number): readonly StoredEvent[];
  lastOf(agent: string): StoredEvent | null;
  /** The ids of sessions that begin so, in the order of the alphabet, at most `limit`. */
  findSessions(prefix: string, limit: number): readonly string[];
  /** Takes what waits in the spool, such as our own dispatches; returns how many events were new. */
  drain(): Promise<number>;
  verify(): ChainReport;
  /** Removes events for good; returns how many. */
  purge(selection: PurgeSelection): Promise<number>;
  counts(): StoreCounts;
  /** Settles when all that was appended is on disk. */
  close(): Promise<void>;
}

/** Events of a session, before a time in milliseconds, or all. */
export interface PurgeSelection {
  readonly session?: string;
  readonly before?: number;
}

export interface StoreCounts {
  readonly events: number;
  /** Of the pages of the database that hold something. */
  readonly bytes: number;
}

export interface EventStoreOptions {
  /** The state directory, `~/.hookline`. */
  readonly directory: string;
  /** How long and how much is stored. */
  readonly retention?: Retention;
  readonly now?: () => number;
  /** Gets what users should know: a damaged database that was replaced, events that wait in the spool. */
  readonly onProblem?: (text: string) => void;
}

/** Opens the store and takes what waits in the spool. A database that cannot be used is reported by what reads it. */
export async function openEventStore(options: EventStoreOptions): Promise<EventStore> {
  const {
    directory,
    retention = DEFAULT_RETENTION,
    now = () => systemClock.now(),
    onProblem = () => undefined,
  } = options;
  const store = new SqliteEventStore({ directory, retention, now, onProblem });
  await store.open();
  return store;
}

/** How often a process that runs for long looks for events to remove. */
const PRUNE_AFTER_MS = 60 * 60 * 1000;
const PRUNE_AFTER_EVENTS = 20_000;

class SqliteEventStore implements EventStore {
  readonly #options: Required<EventStoreOptions>;
  readonly #file: StoreFile;
  readonly #writer: EventWriter;
  #pruned: { readonly at: number; readonly events: number } | null = null;
  #appended = 0;

  constructor(options: Required<EventStoreOptions>) {
    this.#options = options;
    this.#file = new StoreFile(options);
    this.#writer = new EventWriter(this.#file, options);
  }

  async open(): Promise<void> {
    try {
      await this.#file.open();
    } catch {
      // Writers use the spool meanwhile. Readers get the error, unless there is nothing else to read.
      const memory = await this.#file.openMemory();
      if (memory !== null) this.#writer.copySpool(memory);
      return;
    }
    try {
      await this.drain();
    } catch (error) {
      this.#options.onProblem(`waiting events cannot be stored: ${getErrorMessage(error)}`);
    }
  }

  async append(events: readonly NewEvent[]): Promise<readonly AppendResult[]> {
    const results = await this.#writer.append(events);
    this.#appended += results.length;
    this.#pruneIfDue();
    return results;
  }

  list(filter: EventFilter = {}): Iterable<StoredEvent> {
    return listEvents(this.#file.database, filter);
  }

  find(id: string): StoredEvent | null {
    return this.#read('id = ?', id)[0] ?? null;
  }

  findByPrefix(prefix: string, limit: number): readonly StoredEvent[] {
    // As a range, for which the index of ids is used.
    return this.#read('id >= ? AND id < ? LIMIT ?', prefix, `${prefix}\u{10FFFF}`, limit);
  }

  lastOf(agent: string): StoredEvent | null {
    return this.#read('agent = ? ORDER BY sequence DESC LIMIT 1', agent)[0] ?? null;
  }

  findSessions(prefix: string, limit: number): readonly string[] {
    return this.#file.database
      .prepare(
        'SELECT DISTINCT session_id FROM events WHERE session_id >= ? AND session_id < ? ORDER BY session_id LIMIT ?',
      )
      .all(prefix, `${prefix}\u{10FFFF}`, limit)
      .map((row) => String(row['session_id']));
  }

  async drain(): Promise<number> {
    const stored = await this.#writer.drain();
    this.#appended += stored;
    if (stored > 0) this.#pruneIfDue();
    return stored;
  }

  verify(): ChainReport {
    return verifyChain(this.#file.database);
  }

  async purge({ session, before }: PurgeSelection): Promise<number> {
    await this.#writer.flush();
    const database = await this.#file.open();
    const conditions: readonly (readonly [string, SqlValue])[] = [
      ...(session === undefined ? [] : [['session_id = ?', session] as const]),
      ...(before === undefined ? [] : [['at < ?', before] as const]),
    ];
    // Overwrites the content, which SQLite would otherwise leave in free pages.
    database.exec('PRAGMA secure_delete = ON');
    const removed = removeEvents(database, {
      where: ['1', ...conditions.map(([condition]) => condition)].join(' AND '),
      values: conditions.map(([, value]) => value),
      reason: 'purge',
      at: this.#options.now(),
    });
    releasePages(database);
    return removed;
  }

  counts(): StoreCounts {
    const { database } = this.#file;
    const [row] = database.prepare('SELECT count(*) AS count FROM events').all();
    return { events: toNumber(row?.['count']), bytes: readUsedBytes(database) };
  }

  async close(): Promise<void> {
    await this.#writer.flush();
    this.#file.close();
  }

  #read(condition: string, ...values: readonly SqlValue[]): readonly StoredEvent[] {
    const statement = this.#file.database.prepare(`SELECT * FROM events WHERE ${condition}`);
    return statement.all(...values).map(toStoredEvent);
  }

  /** After the events are on disk, so that nobody waits for it. */
  #pruneIfDue(): void {
    const at = this.#options.now();
    const last = this.#pruned;
    const isDue =
      last === null ||
      Math.abs(at - last.at) > PRUNE_AFTER_MS ||
      this.#appended - last.events > PRUNE_AFTER_EVENTS;
    if (!isDue || this.#file.problem !== null) return;
    this.#pruned = { at, events: this.#appended };
    try {
      pruneEvents(this.#file.database, this.#options.retention, at);
    } catch (error) {
      if (classifyError(error) === 'busy') this.#pruned = last;
      else this.#options.onProblem(`old events cannot be removed: ${getErrorMessage(error)}`);
    }
  }
}
