import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { getErrorCode } from '../base/errors.ts';
import { formatOwner, identifyOwner, isOwnerAlive, parseOwner } from '../process/owned-files.ts';

const PRIVATE_FILE = 0o600;
const POLL_MS = 2;
/** Far longer than anybody holds such a lock; for owners that cannot be looked up. */
const LONGEST_HOLD_MS = 10_000;
/** A process that created its lock has also written its name into it by then. */
const UNNAMED_MS = 1000;

/**
 * Runs synchronous work while no other process holds the lock of the same file. Waits at most `waitMs`, then returns
 * null without running it. The lock of a process that ended is removed.
 */
export function runLocked<Result>(
  file: string,
  waitMs: number,
  work: () => Result,
): { readonly result: Result } | null {
  const lock = `${file}.lock`;
  const deadline = systemClock.elapsed() + waitMs;
  while (!tryToCreate(lock)) {
    if (systemClock.elapsed() >= deadline) return null;
    if (isStale(lock)) removeStaleLock(lock);
    else pause(POLL_MS);
  }
  try {
    return { result: work() };
  } finally {
    release(lock);
  }
}

function tryToCreate(lock: string): boolean {
  try {
    const descriptor = openSync(lock, 'wx', PRIVATE_FILE);
    try {
      writeSync(descriptor, formatOwner(identifyOwner()));
    } finally {
      closeSync(descriptor);
    }
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function isStale(lock: string): boolean {
  const stats = statSync(lock, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  // Either way, because the clock may have been set back since.
  const age = Math.abs(systemClock.now() - stats.mtimeMs);
  const owner = parseOwner(readOwnerText(lock));
  if (owner === null) return age > UNNAMED_MS;
  const isForeign = owner.namespace !== identifyOwner().namespace;
  return isForeign ? age > LONGEST_HOLD_MS : !isOwnerAlive(owner, lock);
}

function readOwnerText(lock: string): string {
  try {
    return readFileSync(lock, 'latin1');
  } catch {
    // Released meanwhile.
    return '';
  }
}

/**
 * Removes a stale lock under a second lock: of two processes that found it stale, the slower one would otherwise
 * remove the lock that the faster one has created since.
 */
function removeStaleLock(lock: string): void {
  const breaker = `${lock}.break`;
  if (!tryToCreate(breaker)) {
    if (isStale(breaker)) rmSync(breaker, { force: true });
    else pause(POLL_MS);
    return;
  }
  if (isStale(lock)) rmSync(lock, { force: true });
  rmSync(breaker, { force: true });
}

/** Leaves a lock that another process has taken over. */
function release(lock: string): void {
  if (readOwnerText(lock) === formatOwner(identifyOwner())) rmSync(lock, { force: true });
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
