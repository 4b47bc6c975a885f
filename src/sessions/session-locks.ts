import { closeSync, openSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode, HooklineError } from '../base/errors.ts';
import {
  type FileOwner,
  formatOwner,
  identifyOwner,
  isOwnerAlive,
  isSameOwner,
  parseOwner,
  refreshFile,
} from '../process/owned-files.ts';

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
    const lockFile = this.#getLockFile(identifyOwner());
    closeSync(openSync(lockFile, 'wx', 0o600));
    const stopRenewing = refreshFile(lockFile);
    return () => {
      stopRenewing();
      rmSync(lockFile, { force: true });
    };
  }

  /** A living process with a lock, other than this one; null when there is none. */
  findOtherOwner(): FileOwner | null {
    return this.#listOthers().find((owner) => this.#isAlive(owner)) ?? null;
  }

  /** Removes the lock files of dead processes. */
  removeStale(): void {
    for (const owner of this.#listOthers()) {
      if (!this.#isAlive(owner)) rmSync(this.#getLockFile(owner), { force: true });
    }
  }

  #listOthers(): readonly FileOwner[] {
    return readLockOwners(this.#directory).filter((owner) => !isSameOwner(owner, identifyOwner()));
  }

  #isAlive(owner: FileOwner): boolean {
    return isOwnerAlive(owner, this.#getLockFile(owner));
  }

  #getLockFile(owner: FileOwner): string {
    return path.join(this.#directory, `${LOCK_PREFIX}${formatOwner(owner)}`);
  }
}

const LOCK_PREFIX = 'lock-';

function readLockOwners(directory: string): readonly FileOwner[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith(LOCK_PREFIX))
    .flatMap((name) => parseOwner(name.slice(LOCK_PREFIX.length)) ?? []);
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
  if (holder === null) return;
  const isElsewhere = ![identifyOwner().namespace, ''].includes(holder.namespace);
  const where = isElsewhere ? ' of another process namespace, such as a container' : '';
  throw createBusyError(id, `process ${holder.pid}${where}`);
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
