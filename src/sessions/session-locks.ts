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
  const others = (): readonly LockOwner[] => readClaims(directory).filter(isOther);
  return {
    acquire() {
      const pid = process.pid;
      const own = path.join(directory, claimName({ pid, startedAt: startOf(pid) }));
      closeSync(openSync(own, 'wx', 0o600));
      return () => rmSync(own, { force: true });
    },
    findOtherOwner: () => others().find(isAlive) ?? null,
    removeStale() {
      for (const claim of others()) {
        if (!isAlive(claim)) rmSync(path.join(directory, claimName(claim)), { force: true });
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

const CLAIM = /^lock-(\d+)-(\d*)$/u;

function claimName({ pid, startedAt }: LockOwner): string {
  return `lock-${pid}-${startedAt}`;
}

function readClaims(directory: string): readonly LockOwner[] {
  return readdirSync(directory).flatMap((name) => {
    const [, pid, startedAt = ''] = CLAIM.exec(name) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), startedAt }];
  });
}

function isOther({ pid, startedAt }: LockOwner): boolean {
  return pid !== process.pid || startedAt !== startOf(process.pid);
}

function isAlive({ pid, startedAt }: LockOwner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Whoever may not be signalled is there.
    return getErrorCode(error) === 'EPERM';
  }
  return startedAt === startOf(pid);
}

const FIELDS_BETWEEN_STATE_AND_START = 19;

/** When a process began, which on Linux its status tells; a zombie has ended and begins no more. */
function startOf(pid: number): string {
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
