import { unlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { getErrorMessage, HooklineError, tryOrNull } from '../base/errors.ts';
import { appendToSpool, SPOOL_FOLDER } from '../trace/spool-file.ts';
import { computeHash, READ_HEAD, toHead } from './chain.ts';
import { classifyError, runTransaction, type SqlDatabase, type SqlStatement } from './driver.ts';
import { formatSpoolLine, listSpoolFiles, readSpoolFile, takeSpoolFiles } from './read-spool.ts';
import type { StoreFile, StoreFileOptions } from './store-file.ts';
import { EVENT_COLUMNS, type NewEvent, toEventValues, toRowValues } from './stored-event.ts';

export type AppendResult = 'stored' | 'duplicate';

type Batches = readonly (readonly NewEvent[])[];

interface WaitingBatch {
  readonly events: readonly NewEvent[];
  readonly resolve: (results: readonly AppendResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/** How long one attempt may block the process, and how long all of them wait for a lock. */
const BLOCKING_WAIT_MS = 100;
const LOCK_WAIT_MS = 10_000;
const PAUSE_MS = 20;

/** Commits what came in one tick together. What the database does not take waits in the spool, on disk as well. */
export class EventWriter {
  readonly #file: StoreFile;
  readonly #options: StoreFileOptions;
  readonly #spool: string;
  #prepared: PreparedWrites | null = null;
  #waiting: WaitingBatch[] = [];
  #writing: Promise<void> | null = null;
  #hasSpooled = false;

  constructor(file: StoreFile, options: StoreFileOptions) {
    this.#file = file;
    this.#options = options;
    this.#spool = path.join(options.directory, SPOOL_FOLDER);
  }

  append(events: readonly NewEvent[]): Promise<readonly AppendResult[]> {
    if (events.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ events, resolve, reject });
      this.#writing ??= this.#writeWaiting();
    });
  }

  /** Takes what waits in the spool into the database, in order; returns how many events were new. */
  async drain(): Promise<number> {
    let stored = 0;
    for (const file of takeSpoolFiles(this.#spool)) {
      let mustStay = false;
      for (const { events, isLeft } of readSpoolFile(file, this.#options.now())) {
        const [results = []] = events.length === 0 ? [] : await this.#write([events]);
        stored += results.filter((result) => result === 'stored').length;
        mustStay = isLeft;
      }
      // The next one takes it again, and what is stored already is left out.
      if (mustStay) break;
      // Another process that took the same file may have removed it.
      tryOrNull(() => unlinkSync(file));
    }
    this.#hasSpooled = false;
    return stored;
  }

  /** Copies what waits in the spool, which stays there, into a database in memory. */
  copySpool(database: SqlDatabase): void {
    const statements = prepareWrites(database);
    for (const file of listSpoolFiles(this.#spool)) {
      for (const { events } of readSpoolFile(file, this.#options.now())) {
        appendEvents(statements, [events]);
      }
    }
  }

  /** Settles when all that was appended is on disk. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batches = this.#waiting;
      this.#waiting = [];
      await this.#writeOrSpool(batches);
    }
    this.#writing = null;
  }

  async #writeOrSpool(batches: readonly WaitingBatch[]): Promise<void> {
    try {
      if (this.#hasSpooled) await this.drain();
      const results = await this.#write(batches.map(({ events }) => events));
      batches.forEach(({ resolve }, index) => resolve(results[index] ?? []));
    } catch (error) {
      this.#spoolBatches(batches, error);
    }
  }

  #spoolBatches(batches: readonly WaitingBatch[], cause: unknown): void {
    try {
      const lines = batches.flatMap(({ events }) => events.map(formatSpoolLine));
      appendToSpool(this.#spool, lines.join(''), { isDurable: true });
    } catch (error) {
      const lost = explainWriteError(this.#file.path, cause, error);
      for (const { reject } of batches) reject(lost);
      return;
    }
    if (!this.#hasSpooled) {
      this.#options.onProblem(
        `events wait in ${this.#spool} until they can be stored: ${getErrorMessage(cause)}`,
      );
    }
    this.#hasSpooled = true;
    for (const { events, resolve } of batches) resolve(events.map(() => 'stored'));
  }

  /** Waits while another process holds the lock, without blocking this one. */
  async #write(batches: Batches): Promise<readonly (readonly AppendResult[])[]> {
    const { now } = this.#options;
    const start = now();
    let hasReplaced = false;
    for (;;) {
      try {
        const database = await this.#file.open();
        const statements = this.#prepare(database);
        return runTransaction(database, () => appendEvents(statements, batches));
      } catch (error) {
        const fault = classifyError(error);
        const isLate = Math.abs(now() - start) > LOCK_WAIT_MS;
        if (fault === 'busy' ? isLate : fault !== 'corrupt' || hasReplaced) throw error;
        if (fault === 'corrupt') {
          hasReplaced = true;
          await this.#file.replaceDamaged();
        }
      }
      await wait(PAUSE_MS);
    }
  }

  #prepare(database: SqlDatabase): WriteStatements {
    if (this.#prepared?.database === database) return this.#prepared;
    database.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
    this.#prepared = { database, ...prepareWrites(database) };
    return this.#prepared;
  }
}

interface WriteStatements {
  readonly readHead: SqlStatement;
  readonly insert: SqlStatement;
  readonly moveHead: SqlStatement;
}

interface PreparedWrites extends WriteStatements {
  readonly database: SqlDatabase;
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
  batches: Batches,
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

function explainWriteError(file: string, cause: unknown, spoolError: unknown): HooklineError {
  return new HooklineError('STORE_UNUSABLE', {
    message: `events cannot be stored in ${file} (${getErrorMessage(cause)}) nor in the folder ${SPOOL_FOLDER} beside it (${getErrorMessage(spoolError)})`,
    hint: 'Check the free space of the disk and the permissions of both.',
    cause,
  });
}
