import { errnoOf, HooklineError } from '../base/errors.ts';
import { claimsIn, type DirectoryClaims } from './claims.ts';

/** Gives the session back to others. */
export type Release = () => void;

/**
 * Keeps a session for this process until it is released or the process ends. Throws SESSION_BUSY when
 * another one has it, or this one already. Of two that claim at the same moment none gets it rather
 * than both.
 */
export function claimSession(directory: string, id: string): Release {
  refuseIfHeld(directory, id);
  const claims = claimsIn(directory);
  const release = makeClaim(claims, id);
  try {
    refuseIfHeld(directory, id);
    claims.removeDead();
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

/** Throws SESSION_BUSY when another process that lives has the session. */
export function refuseIfHeld(directory: string, id: string): void {
  const holder = claimsIn(directory).findOther();
  if (holder !== null) throw busySession(id, `process ${holder.pid}`);
}

function makeClaim(claims: DirectoryClaims, id: string): Release {
  try {
    return claims.make();
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw busySession(id, 'this process already');
    throw error;
  }
}

function busySession(id: string, user: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is being used by ${user}`,
    hint: 'Wait until that has ended or end it, or go on with a copy: `--fork`.',
  });
}
