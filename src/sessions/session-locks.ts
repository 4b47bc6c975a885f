import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode, HooklineError } from '../base/errors.ts';

/**
 * Lock files of processes that use a directory. The name has the process in it, so that removing the
 * file of a dead process never removes one that a living process has just created.
 */
export class DirectoryLocks {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws EEXIST when this process has the lock already. Returns the release function. */
  acquire(): () => void {
    const pid = process.pid;
    const lockFile = this.#getLockFile({ pid, startedAt: readProcessStart(pid) });
    closeSync(openSync(lockFile, 'wx', 0o600));
    return () => rmSync(lockFile, { force: true });
  }

  /** A living process with a lock, other than this one; null when there is none. */
  findOtherOwner(): LockOwner | null {
    return this.#listOthers().find(isAlive) ?? null;
  }

  /** Removes the lock files of dead processes. */
  removeStale(): void {
    for (const owner of this.#listOthers()) {
      if (!isAlive(owner)) rmSync(this.#getLockFile(owner), { force: true });
    }
  }

  #listOthers(): readonly LockOwner[] {
    return readLockOwners(this.#directory).filter(isOtherProcess);
  }

  #getLockFile(owner: LockOwner): string {
    return path.join(this.#directory, formatLockName(owner));
  }
}

/** A process; with its start time, because process ids are reused. */
interface LockOwner {
  readonly pid: number;
  /** As the system formats it; empty where it is not known. */
  readonly startedAt: string;
}

const LOCK_NAME = /^lock-(\d+)-(\d*)$/u;

function formatLockName({ pid, startedAt }: LockOwner): string {
  return `lock-${pid}-${startedAt}`;
}

function readLockOwners(directory: string): readonly LockOwner[] {
  return readdirSync(directory).flatMap((name) => {
    const [, pid, startedAt = ''] = LOCK_NAME.exec(name) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), startedAt }];
  });
}

function isOtherProcess({ pid, startedAt }: LockOwner): boolean {
  return pid !== process.pid || startedAt !== readProcessStart(process.pid);
}

function isAlive({ pid, startedAt }: LockOwner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process that may not be signalled exists.
    return getErrorCode(error) === 'EPERM';
  }
  return startedAt === readProcessStart(pid);
}

const FIELDS_BETWEEN_STATE_AND_START = 19;

/** The start time from /proc on Linux, empty elsewhere; a zombie has ended. */
function readProcessStart(pid: number): string {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name before it may contain spaces and parentheses.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'ended' : (fields[FIELDS_BETWEEN_STATE_AND_START] ?? '');
  } catch {
    return '';
  }
}

/**
 * Locks a session for this process until the returned function is called or the process ends. Throws SESSION_BUSY when
 * another process has it, or this one already. Of two processes at the same moment, rather none gets it
 * than both.
 */
export function lockSession(directory: string, id: string): () => void {
  checkSessionUnlocked(directory, id);
  const locks = new DirectoryLocks(directory);
  const release = acquireLock(locks, id);
  try {
    checkSessionUnlocked(directory, id);
    locks.removeStale();
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** Throws SESSION_BUSY when another living process has the session. */
export function checkSessionUnlocked(directory: string, id: string): void {
  const holder = new DirectoryLocks(directory).findOtherOwner();
  if (holder !== null) throw createBusyError(id, `process ${holder.pid}`);
}

function acquireLock(locks: DirectoryLocks, id: string): () => void {
  try {
    return locks.acquire();
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') throw createBusyError(id, 'this process already');
    throw error;
  }
}

function createBusyError(id: string, user: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is in use by ${user}`,
    hint: 'Wait until it has ended or end it, or continue with a copy: `--fork`.',
  });
}
