import { HooklineError } from '../../base/errors.ts';
import { getTypeName, isRecord } from '../../base/json.ts';

/** No session with this id is open or stored; `code` is Cline's. */
export class SessionNotFoundError extends Error {
  override readonly name = 'SessionNotFoundError';
  readonly code = 'session_not_found';
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`Session not found: ${sessionId}`);
    this.sessionId = sessionId;
  }
}

export function isSessionNotFoundError(error: unknown): error is SessionNotFoundError {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return error.code === 'session_not_found';
}

/** Whether the session can serve no further prompt: it is gone, or its run never ended. */
export function isUnusableSessionError(error: unknown): boolean {
  const { code, message } = isRecord(error) ? error : {};
  const codes = ['session_not_found', 'session_run_in_progress'];
  // An error that crossed a process may have lost its code.
  return codes.some(
    (each) => code === each || (typeof message === 'string' && message.includes(each)),
  );
}

export function createUnsupportedError(what: string, hint: string): HooklineError {
  return new HooklineError('SDK_UNSUPPORTED', { message: `Hookline has no ${what}`, hint });
}

/** The error for a value of the wrong type in the input of a program. */
export function createInputError(
  place: string,
  expected: string,
  value: unknown,
  hint: string,
): HooklineError {
  const found = value === undefined ? 'nothing' : getTypeName(value);
  return new HooklineError('USAGE_INVALID', {
    message: `expected ${place} to be ${expected}, found ${found}`,
    hint,
  });
}

export function createBusyError(id: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is working on another prompt`,
    hint: 'Wait for it, abort it, or choose how to deliver this one: "queue" or "steer".',
  });
}
