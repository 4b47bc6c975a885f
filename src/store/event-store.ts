import { systemClock } from '../base/clock.ts';
import { HooklineError } from '../base/errors.ts';
import { computeHash, READ_HEAD, toHead } from './chain.ts';
import { runTransaction, type SqlDatabase, type SqlStatement } from './driver.ts';
import { type EventFilter, listEvents } from './list-events.ts';
import { openStoreFile, type StoreFile } from './store-file.ts';
import {
  EVENT_COLUMNS,
  type NewEvent,
  type StoredEvent,
  toEventValues,
  toRowValues,
  toStoredEvent,
} from './stored-event.ts';

export type { EventFilter } from './list-events.ts';
export type { EventOrigin, NewEvent, StoredEvent } from './stored-event.ts';

export type AppendResult = 'stored' | 'duplicate';

/** The events of all agents on this machine, in `events.db`. Several processes may write and read it. */
export interface EventStore {
  /**
   * Settles when the events are on disk (`synchronous = FULL`). What came in one tick is one transaction.
   * An event whose id is stored already is a duplicate.
   */
  append(events: readonly NewEvent[]): Promise<readonly AppendResult[]>;
  /** Reads page by page, the newest last. */
  list(filter?: EventFilter): Iterable<StoredEvent>;
  find(id: string): StoredEvent | null;
  lastOf(agent: string): StoredEvent | null;
  /** Settles when all that was appended is on disk. */
  close(): Promise<void>;
}

export interface EventStoreOptions {
  /** The state directory, `~/.hookline`. */
  readonly directory: string;
  readonly now?: () => number;
  /** Gets what users should know: a damaged database that was replaced. */
  readonly onProblem?: (text: string) => void;
}

/** Opens the store; rejects when its database cannot be used. */
export async function openEventStore(options: EventStoreOptions): Promise<EventStore> {
  const { directory, now = () => systemClock.now(), onProblem = () => undefined } = options;
  const file = await openStoreFile(directory, { now, onProblem });
  return new SqliteEventStore(file);
}

interface WaitingBatch {
  readonly events: readonly NewEvent[];
  readonly resolve: (results: readonly AppendResult[]) => void;
  readonly reject: (error: unknown) => void;
}

class SqliteEventStore implements EventStore {
  readonly #file: StoreFile;
  #statements: WriteStatements | null = null;
  #waiting: WaitingBatch[] = [];
  #writing: Promise<void> | null = null;

  constructor(file: StoreFile) {
    this.#file = file;
  }

  append(events: readonly NewEvent[]): Promise<readonly AppendResult[]> {
    if (events.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ events, resolve, reject });
      this.#writing ??= this.#writeWaiting();
    });
  }

  list(filter: EventFilter = {}): Iterable<StoredEvent> {
    return listEvents(this.#file.database, filter);
  }

  find(id: string): StoredEvent | null {
    return this.#readOne('id = ?', id);
  }

  lastOf(agent: string): StoredEvent | null {
    return this.#readOne('agent = ? ORDER BY sequence DESC LIMIT 1', agent);
  }

  async close(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    this.#file.database.close();
  }

  #readOne(condition: string, value: string): StoredEvent | null {
    const statement = this.#file.database.prepare(`SELECT * FROM events WHERE ${condition}`);
    const [row] = statement.all(value);
    return row === undefined ? null : toStoredEvent(row);
  }

  async #writeWaiting(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batches = this.#waiting;
      this.#waiting = [];
      this.#writeBatches(batches);
    }
    this.#writing = null;
  }

  #writeBatches(batches: readonly WaitingBatch[]): void {
    try {
      const { database } = this.#file;
      const statements = (this.#statements ??= prepareWrites(database));
      const results = runTransaction(database, () =>
        appendEvents(
          statements,
          batches.map(({ events }) => events),
        ),
      );
      batches.forEach(({ resolve }, index) => resolve(results[index] ?? []));
    } catch (error) {
      for (const { reject } of batches) reject(explainWriteError(this.#file.path, error));
    }
  }
}

interface WriteStatements {
  readonly readHead: SqlStatement;
  readonly insert: SqlStatement;
  readonly moveHead: SqlStatement;
}

function prepareWrites(database: SqlDatabase): WriteStatements {
  const columns = ['sequence', 'hash', ...EVENT_COLUMNS];
  const places = columns.map(() => '?').join(', ');
  return {
    readHead: database.prepare(READ_HEAD),
    insert: database.prepare(
      `INSERT INTO events (${columns.join(', ')}) VALUES (${places}) ON CONFLICT (id) DO NOTHING`,
    ),
    moveHead: database.prepare(
      'INSERT INTO head (one, sequence, hash) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash',
    ),
  };
}

/** Appends to the chain; must run inside of a write transaction. */
function appendEvents(
  { readHead, insert, moveHead }: WriteStatements,
  batches: readonly (readonly NewEvent[])[],
): readonly (readonly AppendResult[])[] {
  const before = toHead(readHead.all());
  let head = before;
  const appendEvent = (event: NewEvent): AppendResult => {
    const values = toEventValues(event);
    const sequence = head.sequence + 1;
    const hash = computeHash(head.hash, sequence, values);
    if (insert.run(sequence, hash, ...toRowValues(values)) === 0) return 'duplicate';
    head = { sequence, hash };
    return 'stored';
  };
  const results = batches.map((events) => events.map(appendEvent));
  if (head !== before) moveHead.run(head.sequence, head.hash);
  return results;
}

function explainWriteError(file: string, error: unknown): unknown {
  return new HooklineError('STORE_UNUSABLE', {
    message: `events cannot be written to ${file}: ${error instanceof Error ? error.message : String(error)}`,
    hint: 'Check the free space of its disk and whether another program has it locked.',
    cause: error,
  });
}
