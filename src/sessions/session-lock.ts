import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { errnoOf, HooklineError } from '../base/errors.ts';

/** Gives the session back to others. */
export type Release = () => void;

/**
 * Keeps a session for this process until it is released or the process ends. Throws SESSION_BUSY when
 * another one has it, or this one already.
 *
 * Every process has a claim of its own name, and has the session when no other living one claims it.
 * So nobody ever removes a claim that somebody alive may just have made, and of two that claim at the
 * same moment none gets it rather than both.
 */
export function claimSession(directory: string, id: string): Release {
  refuseIfHeld(directory, id);
  const own = path.join(
    directory,
    claimName({ pid: process.pid, startedAt: startOf(process.pid) }),
  );
  makeClaim(own, id);
  const release = (): void => rmSync(own, { force: true });
  try {
    refuseIfHeld(directory, id);
    removeDeadClaims(directory);
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** Throws SESSION_BUSY when another process that lives has the session. */
export function refuseIfHeld(directory: string, id: string): void {
  const holder = readClaims(directory).find((claim) => isOther(claim) && isAlive(claim));
  if (holder !== undefined) throw busySession(id, `process ${holder.pid}`);
}

function busySession(id: string, user: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is being used by ${user}`,
    hint: 'Wait until that has ended or end it, or go on with a copy: `--fork`.',
  });
}

function makeClaim(file: string, id: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw busySession(id, 'this process already');
    throw error;
  }
}

/** A process; its number alone would name another one later. */
interface Claim {
  readonly pid: number;
  /** In the system's own words; empty where it does not say. */
  readonly startedAt: string;
}

const CLAIM = /^lock-(\d+)-(\d*)$/u;

function claimName({ pid, startedAt }: Claim): string {
  return `lock-${pid}-${startedAt}`;
}

function readClaims(directory: string): readonly Claim[] {
  return readdirSync(directory).flatMap((name) => {
    const [, pid, startedAt = ''] = CLAIM.exec(name) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), startedAt }];
  });
}

function removeDeadClaims(directory: string): void {
  for (const claim of readClaims(directory)) {
    const isDead = isOther(claim) && !isAlive(claim);
    if (isDead) rmSync(path.join(directory, claimName(claim)), { force: true });
  }
}

function isOther({ pid, startedAt }: Claim): boolean {
  return pid !== process.pid || startedAt !== startOf(process.pid);
}

function isAlive({ pid, startedAt }: Claim): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Whoever may not be signalled is there.
    return errnoOf(error) === 'EPERM';
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
