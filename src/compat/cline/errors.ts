import { HooklineError } from '../../base/errors.ts';

/** No session of this id is open here, or stored; `code` is Cline's word for it. */
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

export function createUnsupportedError(what: string, hint: string): HooklineError {
  return new HooklineError('SDK_UNSUPPORTED', { message: `Hookline has no ${what}`, hint });
}

export function createNoAutomationError(): HooklineError {
  return createUnsupportedError(
    'automation yet',
    'Leave it out; plugins then get no ctx.automation.',
  );
}

export function createNoCompactionStateError(): HooklineError {
  return createUnsupportedError(
    'state of compaction to be read or set',
    'A session compacts itself when its conversation gets too long.',
  );
}

export function createAlreadyOpenError(id: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is open here already`,
    hint: 'Speak to it with send, or stop it before it is started again.',
  });
}

export function createDisposedError(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: 'this core was disposed, so that no session can be started with it',
    hint: 'Create another one.',
  });
}

export function createBusyError(id: string): HooklineError {
  return new HooklineError('SESSION_BUSY', {
    message: `the session ${id} is working on another prompt`,
    hint: 'Wait for it, abort it, or say how to deliver this one: "queue" or "steer".',
  });
}

export function createEndedError(id: string): HooklineError {
  return new HooklineError('SESSION_UNKNOWN', {
    message: `the session ${id} was ended while it was being opened`,
    hint: 'Start it with a core that is not disposed.',
  });
}
