import { getErrorCode, HooklineError } from '../base/errors.ts';
import { openDirectoryLocks, type DirectoryLocks } from './claims.ts';

/** Gives the session back to others. */
export type ReleaseLock = () => void;

/**
 * Keeps a session for this process until it is released or the process ends. Throws SESSION_BUSY when
 * another one has it, or this one already. Of two that claim at the same moment none gets it rather
 * than both.
 */
export function lockSession(directory: string, id: string): ReleaseLock {
  checkSessionUnlocked(directory, id);
  const claims = openDirectoryLocks(directory);
  const release = makeClaim(claims, id);
  try {
    checkSessionUnlocked(directory, id);
    claims.removeStale();
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** Throws SESSION_BUSY when another process that lives has the session. */
export function checkSessionUnlocked(directory: string, id: string): void {
  const holder = openDirectoryLocks(directory).findOtherOwner();
  if (holder !== null) throw busySession(id, `process ${holder.pid}`);
}

function makeClaim(claims: DirectoryLocks, id: string): ReleaseLock {
  try {
    return claims.acquire();
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') throw busySession(id, 'this process already');
    throw error;
  }
}

function busySession(id: string, user: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is being used by ${user}`,
    hint: 'Wait until that has ended or end it, or go on with a copy: `--fork`.',
  });
}
