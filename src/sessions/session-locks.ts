import { closeSync, openSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode, HooklineError } from '../base/errors.ts';
import {
  isProcessAlive,
  type ProcessIdentity,
  readProcessStart,
} from '../process/process-table.ts';

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
  findOtherOwner(): ProcessIdentity | null {
    return this.#listOthers().find(isProcessAlive) ?? null;
  }

  /** Removes the lock files of dead processes. */
  removeStale(): void {
    for (const owner of this.#listOthers()) {
      if (!isProcessAlive(owner)) rmSync(this.#getLockFile(owner), { force: true });
    }
  }

  #listOthers(): readonly ProcessIdentity[] {
    return readLockOwners(this.#directory).filter(isOtherProcess);
  }

  #getLockFile(owner: ProcessIdentity): string {
    return path.join(this.#directory, formatLockName(owner));
  }
}

const LOCK_NAME = /^lock-(\d+)-(\d*)$/u;

function formatLockName({ pid, startedAt }: ProcessIdentity): string {
  return `lock-${pid}-${startedAt}`;
}

function readLockOwners(directory: string): readonly ProcessIdentity[] {
  return readdirSync(directory).flatMap((name) => {
    const [, pid, startedAt = ''] = LOCK_NAME.exec(name) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), startedAt }];
  });
}

function isOtherProcess({ pid, startedAt }: ProcessIdentity): boolean {
  return pid !== process.pid || startedAt !== readProcessStart(process.pid);
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
