import { CHAIN_START } from './chain.ts';
import { runTransaction, type SqlDatabase, type SqlValue } from './driver.ts';
import { toBytes, toNumber } from './stored-event.ts';

export interface Retention {
  readonly days: number;
  readonly bytes: number;
}

export const DEFAULT_RETENTION: Retention = { days: 30, bytes: 1024 ** 3 };

/** Which events to remove, and why. */
export interface Removal {
  /** A condition on the columns of an event. */
  readonly where: string;
  readonly values: readonly SqlValue[];
  readonly reason: 'age' | 'size' | 'purge';
  readonly at: number;
}

/** So that a writer in another process never waits long. */
const ROWS_AT_ONCE = 5000;

/** Removes events and leaves a checkpoint for each run of them, from which the chain goes on. Returns how many. */
export function removeEvents(database: SqlDatabase, removal: Removal): number {
  let removed = 0;
  for (;;) {
    const count = runTransaction(database, () => removeSome(database, removal));
    removed += count;
    if (count < ROWS_AT_ONCE) return removed;
  }
}

interface Run {
  readonly first: number;
  last: number;
  hash: Uint8Array;
}

function removeSome(database: SqlDatabase, { where, values, reason, at }: Removal): number {
  const rows = database
    .prepare(`SELECT sequence, hash FROM events WHERE ${where} ORDER BY sequence LIMIT ?`)
    .all(...values, ROWS_AT_ONCE);
  const runs: Run[] = [];
  for (const row of rows) {
    const [sequence, hash] = [toNumber(row['sequence']), toBytes(row['hash'])];
    const run = runs.at(-1);
    if (run?.last === sequence - 1) Object.assign(run, { last: sequence, hash });
    else runs.push({ first: sequence, last: sequence, hash });
  }
  const remove = database.prepare('DELETE FROM events WHERE sequence BETWEEN ? AND ?');
  for (const run of runs) {
    writeCheckpoint(database, run, { reason, at });
    remove.run(run.first, run.last);
  }
  return rows.length;
}

/** Joined with the checkpoints right before and after it, so that many removals do not leave many. */
function writeCheckpoint(
  database: SqlDatabase,
  { first, last, hash }: Run,
  { reason, at }: Pick<Removal, 'reason' | 'at'>,
): void {
  const [before] = database.prepare('SELECT * FROM checkpoints WHERE last = ?').all(first - 1);
  const [after] = database.prepare('SELECT * FROM checkpoints WHERE first = ?').all(last + 1);
  const remove = database.prepare('DELETE FROM checkpoints WHERE first = ?');
  for (const joined of [before, after]) {
    if (joined !== undefined) remove.run(toNumber(joined['first']));
  }
  database
    .prepare(
      'INSERT INTO checkpoints (first, last, hash_before, hash, at, reason) VALUES (?, ?, ?, ?, ?, ?)',
    )
    .run(
      before === undefined ? first : toNumber(before['first']),
      after === undefined ? last : toNumber(after['last']),
      before === undefined ? readHashOf(database, first - 1) : toBytes(before['hash_before']),
      after === undefined ? hash : toBytes(after['hash']),
      at,
      reason,
    );
}

/** Empty for an event that is missing, which verifying the chain then reports. */
function readHashOf(database: SqlDatabase, sequence: number): Uint8Array {
  if (sequence === 0) return CHAIN_START.hash;
  const [row] = database.prepare('SELECT hash FROM events WHERE sequence = ?').all(sequence);
  return toBytes(row?.['hash']);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes the oldest events: those that are too old, and as many as the file is too large. Returns how many. */
export function pruneEvents(
  database: SqlDatabase,
  { days, bytes }: Retention,
  now: number,
): number {
  const removed =
    removeOld(database, now - days * DAY_MS, now) + removeBeyond(database, bytes, now);
  if (removed > 0) releasePages(database);
  return removed;
}

/** An event that seems to be of tomorrow came while the clock was wrong, and must not keep all after it. */
function removeOld(database: SqlDatabase, oldest: number, now: number): number {
  const [first] = database
    .prepare(
      'SELECT sequence FROM events WHERE received_at BETWEEN ? AND ? ORDER BY sequence LIMIT 1',
    )
    .all(oldest, now + DAY_MS);
  const [newest] = database.prepare('SELECT max(sequence) AS sequence FROM events').all();
  const end =
    first === undefined ? toNumber(newest?.['sequence']) + 1 : toNumber(first['sequence']);
  return removeEvents(database, { where: 'sequence < ?', values: [end], reason: 'age', at: now });
}

function removeBeyond(database: SqlDatabase, bytes: number, now: number): number {
  const used = readUsedBytes(database);
  if (used <= bytes) return 0;
  const [row] = database
    .prepare('SELECT count(*) AS count, min(sequence) AS first FROM events')
    .all();
  // A tenth more, because it would otherwise be too large again after the next event.
  const share = Math.min(1, ((used - bytes) / used) * 1.1);
  const count = Math.ceil(toNumber(row?.['count']) * share);
  if (count === 0) return 0;
  const [last] = database
    .prepare('SELECT sequence FROM events ORDER BY sequence LIMIT 1 OFFSET ?')
    .all(count - 1);
  const values = [toNumber(last?.['sequence'])];
  return removeEvents(database, { where: 'sequence <= ?', values, reason: 'size', at: now });
}

/** The bytes of the pages that hold something. */
export function readUsedBytes(database: SqlDatabase): number {
  const read = (name: string): number =>
    toNumber(database.prepare(`PRAGMA ${name}`).all()[0]?.[name]);
  return (read('page_count') - read('freelist_count')) * read('page_size');
}

/** Gives the space of removed events back to the disk. */
export function releasePages(database: SqlDatabase): void {
  database.prepare('PRAGMA incremental_vacuum').all();
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
}
