import { closeSync, openSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { formatTime } from '../base/clock.ts';
import { getErrorMessage, HooklineError } from '../base/errors.ts';
import { createPrivateDirectory, isNotFoundError } from '../base/files.ts';
import { classifyError, openDatabase, type SqlDatabase } from './driver.ts';

const STORE_FILE = 'events.db';
/** How many migrations there are. */
export const SCHEMA_VERSION = 1;
const BUSY_TIMEOUT_MS = 5000;
const PRIVATE_FILE = 0o600;

export interface StoreFile {
  readonly path: string;
  readonly database: SqlDatabase;
  /** Whether the path still leads to the file that is open: another process may have moved a damaged one away. */
  isCurrent(): boolean;
}

export function getStorePath(directory: string): string {
  return path.join(directory, STORE_FILE);
}

/** Opens the database, creates or migrates its tables; one that is damaged is moved away and reported. */
export async function openStoreFile(
  directory: string,
  { now, onProblem }: { readonly now: () => number; readonly onProblem: (text: string) => void },
): Promise<StoreFile> {
  const file = getStorePath(directory);
  createPrivateDirectory(directory);
  for (let attempt = 0; ; attempt++) {
    const inode = createPrivateFile(file);
    try {
      const database = await openMigrated(file);
      return { path: file, database, isCurrent: () => readInode(file) === inode };
    } catch (error) {
      if (classifyError(error) !== 'corrupt' || attempt === 1) throw explainOpenError(file, error);
      await quarantine(file, inode, now(), onProblem);
    }
  }
}

/** SQLite would create the file readable by everybody; its journal gets the mode of the file. */
function createPrivateFile(file: string): number | null {
  try {
    closeSync(openSync(file, 'a', PRIVATE_FILE));
  } catch (error) {
    throw explainOpenError(file, error);
  }
  return readInode(file);
}

function readInode(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.ino ?? null;
}

async function openMigrated(file: string): Promise<SqlDatabase> {
  const database = await openDatabase(file);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    if (readVersion(database) !== SCHEMA_VERSION) await migrate(database, file);
    database.exec('PRAGMA synchronous = FULL');
    return database;
  } catch (error) {
    database.close();
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
    database.exec('ROLLBACK');
    throw error;
  }
}

function refuseNewer(version: number, file: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new HooklineError('STORE_NEWER', {
    message: `${file} was written by a newer version of Hookline: expected schema ${SCHEMA_VERSION} or older, found ${version}`,
    hint: 'Update Hookline, or set HOOKLINE_HOME to another directory. Until then new events are kept in the trace folder beside it.',
  });
}

function explainOpenError(file: string, error: unknown): unknown {
  if (error instanceof HooklineError) return error;
  return new HooklineError('STORE_UNUSABLE', {
    message: `the event store ${file} cannot be opened: ${getErrorMessage(error)}`,
    hint: 'Check its permissions and the free space of its disk, or whether another program has it locked.',
    cause: error,
  });
}

/** Moves a damaged database away, so that a new one can be started; nothing of it is deleted. */
export async function quarantine(
  file: string,
  inode: number | null,
  now: number,
  onProblem: (text: string) => void,
): Promise<void> {
  const { default: lockfile } = await import('proper-lockfile');
  const release = await lockfile.lock(file, { realpath: false, retries: { retries: 20 } });
  try {
    // Another process may have replaced it already.
    if (readInode(file) !== inode) return;
    const target = `${file}.corrupt-${formatTime(now).replaceAll(/[:.]/g, '-')}`;
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
