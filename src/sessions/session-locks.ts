import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode, HooklineError } from '../base/errors.ts';

/**
 * Marks of processes that use a directory. Every process has a claim of its own name, so nobody ever
 * removes one that somebody alive may just have made.
 */
export interface DirectoryLocks {
  /** Throws EEXIST when this process has one already. Returns the way to give it back. */
  acquire(): () => void;
  /** A living process with a claim, other than this one; null when there is none. */
  findOtherOwner(): LockOwner | null;
  /** What processes left behind that ended. */
  removeStale(): void;
}

export function openDirectoryLocks(directory: string): DirectoryLocks {
  const listOthers = (): readonly LockOwner[] => readLockOwners(directory).filter(isOtherProcess);
  return {
    acquire() {
      const pid = process.pid;
      const lockFile = path.join(directory, formatLockName({ pid, startedAt: readProcessStart(pid) }));
      closeSync(openSync(lockFile, 'wx', 0o600));
      return () => rmSync(lockFile, { force: true });
    },
    findOtherOwner: () => listOthers().find(isAlive) ?? null,
    removeStale() {
      for (const owner of listOthers()) {
        if (!isAlive(owner)) rmSync(path.join(directory, formatLockName(owner)), { force: true });
      }
    },
  };
}

/** A process; its number alone would name another one later. */
interface LockOwner {
  readonly pid: number;
  /** In the system's own words; empty where it does not say. */
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
    // Whoever may not be signalled is there.
    return getErrorCode(error) === 'EPERM';
  }
  return startedAt === readProcessStart(pid);
}

const FIELDS_BETWEEN_STATE_AND_START = 19;

/** When a process began, which on Linux its status tells; a zombie has ended and begins no more. */
function readProcessStart(pid: number): string {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name before it may itself hold spaces and parentheses.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'ended' : (fields[FIELDS_BETWEEN_STATE_AND_START] ?? '');
  } catch {
    return '';
  }
}

/** Gives the session back to others. */
export type ReleaseLock = () => void;

/**
 * Keeps a session for this process until it is released or the process ends. Throws SESSION_BUSY when
 * another one has it, or this one already. Of two that claim at the same moment none gets it rather
 * than both.
 */
export function lockSession(directory: string, id: string): ReleaseLock {
  checkSessionUnlocked(directory, id);
  const locks = openDirectoryLocks(directory);
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

/** Throws SESSION_BUSY when another process that lives has the session. */
export function checkSessionUnlocked(directory: string, id: string): void {
  const holder = openDirectoryLocks(directory).findOtherOwner();
  if (holder !== null) throw createBusyError(id, `process ${holder.pid}`);
}

function acquireLock(locks: DirectoryLocks, id: string): ReleaseLock {
  try {
    return locks.acquire();
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') throw createBusyError(id, 'this process already');
    throw error;
  }
}

function createBusyError(id: string, user: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is being used by ${user}`,
    hint: 'Wait until that has ended or end it, or go on with a copy: `--fork`.',
  });
}
