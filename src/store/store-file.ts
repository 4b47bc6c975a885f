import { closeSync, openSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { formatTime } from '../base/clock.ts';
import { getErrorMessage, HooklineError, tryOrNull } from '../base/errors.ts';
import { createPrivateDirectory, isNotFoundError } from '../base/files.ts';
import { classifyError, openDatabase, type SqlDatabase } from './driver.ts';

const STORE_FILE = 'events.db';
/** As many as there are migrations. */
export const SCHEMA_VERSION = 1;
const OPEN_WAIT_MS = 5000;
const RETRY_AFTER_MS = 5000;
const PRIVATE_FILE = 0o600;

export interface StoreFileOptions {
  /** The state directory, `~/.hookline`. */
  readonly directory: string;
  readonly now: () => number;
  /** Gets what users should know: a damaged database that was replaced. */
  readonly onProblem: (text: string) => void;
}

interface OpenedFile {
  readonly database: SqlDatabase;
  readonly inode: number | null;
}

/** The connection to `events.db`: opened on first use, and again when another process has replaced the file. */
export class StoreFile {
  readonly path: string;
  readonly #options: StoreFileOptions;
  #opened: OpenedFile | null = null;
  /** Holds what waits in the spool, for readers, while no file can be created. */
  #memory: SqlDatabase | null = null;
  #failure: { readonly error: HooklineError; readonly at: number } | null = null;

  constructor(options: StoreFileOptions) {
    this.#options = options;
    this.path = path.join(options.directory, STORE_FILE);
  }

  /** The open database, for readers; throws what made it impossible to open. */
  get database(): SqlDatabase {
    const database = this.#opened?.database ?? this.#memory;
    if (database !== null) return database;
    throw this.#failure?.error ?? createClosedError(this.path);
  }

  /** Why the database cannot be used, or null. */
  get problem(): HooklineError | null {
    return this.#opened === null ? (this.#failure?.error ?? null) : null;
  }

  /** Opens the database; creates or migrates its tables, and moves a damaged one away. */
  async open(): Promise<SqlDatabase> {
    if (this.#opened !== null && readInode(this.path) === this.#opened.inode) {
      return this.#opened.database;
    }
    this.close();
    const now = this.#options.now();
    // An error that waiting does not mend is not looked for with every event.
    if (this.#failure !== null && Math.abs(now - this.#failure.at) < RETRY_AFTER_MS) {
      throw this.#failure.error;
    }
    try {
      this.#opened = await openReplacingDamaged(this.path, this.#options);
      this.#memory = null;
      this.#failure = null;
      return this.#opened.database;
    } catch (caught) {
      const error = explainOpenError(this.path, caught);
      this.#failure = { error, at: now };
      throw error;
    }
  }

  /** Opens a database in memory when there is no file and none can be created; null when there is one. */
  async openMemory(): Promise<SqlDatabase | null> {
    if ((tryOrNull(() => statSync(this.path).size) ?? 0) > 0) return null;
    this.#memory = await openMigrated(':memory:');
    return this.#memory;
  }

  /** Moves a database away that turned out to be damaged while it was used. */
  async replaceDamaged(): Promise<void> {
    if (this.#opened === null) return;
    const { inode } = this.#opened;
    this.close();
    await quarantine(this.path, inode, this.#options);
  }

  close(): void {
    const opened = this.#opened;
    this.#opened = null;
    this.#memory = null;
    // A damaged database may fail here, too.
    tryOrNull(() => opened?.database.close());
  }
}

function createClosedError(file: string): HooklineError {
  return new HooklineError('STORE_UNUSABLE', { message: `the event store ${file} is closed` });
}

async function openReplacingDamaged(file: string, options: StoreFileOptions): Promise<OpenedFile> {
  createPrivateDirectory(options.directory);
  for (let attempt = 0; ; attempt++) {
    const inode = createPrivateFile(file);
    try {
      return { database: await openMigrated(file), inode };
    } catch (error) {
      if (classifyError(error) !== 'corrupt' || attempt === 1) throw error;
      await quarantine(file, inode, options);
    }
  }
}

/** SQLite would create the file readable by everybody; its journal gets the mode of the file. */
function createPrivateFile(file: string): number | null {
  closeSync(openSync(file, 'a', PRIVATE_FILE));
  return readInode(file);
}

function readInode(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.ino ?? null;
}

async function openMigrated(file: string): Promise<SqlDatabase> {
  const database = await openDatabase(file);
  try {
    database.exec(`PRAGMA busy_timeout = ${OPEN_WAIT_MS}`);
    if (readVersion(database) !== SCHEMA_VERSION) await migrate(database, file);
    database.exec('PRAGMA synchronous = FULL');
    return database;
  } catch (error) {
    tryOrNull(() => database.close());
    throw error;
  }
}

function readVersion(database: SqlDatabase): number {
  return Number(database.prepare('PRAGMA user_version').all()[0]?.['user_version'] ?? 0);
}

async function migrate(database: SqlDatabase, file: string): Promise<void> {
  refuseNewer(readVersion(database), file);
  // Both are stored in the file, and must be set before its first table.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.prepare('PRAGMA journal_mode = WAL').all();
  const { migrateSchema } = await import('./migrations.ts');
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have migrated while this one waited for the lock.
    const version = readVersion(database);
    refuseNewer(version, file);
    if (version < SCHEMA_VERSION) await migrateSchema(database);
    database.exec('COMMIT');
  } catch (error) {
    tryOrNull(() => database.exec('ROLLBACK'));
    throw error;
  }
}

function refuseNewer(version: number, file: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new HooklineError('STORE_NEWER', {
    message: `${file} was written by a newer version of Hookline: expected schema ${SCHEMA_VERSION} or older, found ${version}`,
    hint: 'Update Hookline, or set HOOKLINE_HOME to another directory. Until then new events wait in the folder `trace` beside it.',
  });
}

function explainOpenError(file: string, error: unknown): HooklineError {
  if (error instanceof HooklineError) return error;
  return new HooklineError('STORE_UNUSABLE', {
    message: `the event store ${file} cannot be opened: ${getErrorMessage(error)}`,
    hint: 'Check its permissions and the free space of its disk, or whether another program has it locked. Until then new events wait in the folder `trace` beside it.',
    cause: error,
  });
}

/** Moves a damaged database away, so that a new one can be started; nothing of it is deleted. */
async function quarantine(
  file: string,
  inode: number | null,
  { now, onProblem }: StoreFileOptions,
): Promise<void> {
  const { default: lockfile } = await import('proper-lockfile');
  const release = await lockfile.lock(file, { realpath: false, retries: { retries: 20 } });
  try {
    // Another process may have replaced it already.
    if (readInode(file) !== inode) return;
    const target = `${file}.corrupt-${formatTime(now()).replaceAll(/[:.]/g, '-')}`;
    for (const suffix of ['-wal', '-shm', '']) {
      moveIfPresent(`${file}${suffix}`, `${target}${suffix}`);
    }
    onProblem(`the event store was damaged and has been moved to ${target}; a new one was started`);
  } finally {
    await release();
  }
}

function moveIfPresent(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isNotFoundError(error)) throw error;
  }
}
