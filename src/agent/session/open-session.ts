import { prepareSession, type PreparedSession, type SessionOptions } from './prepare-session.ts';
import { RunningSession } from './running-session.ts';
import type { Session } from './session.ts';

export interface Opening {
  readonly signal?: AbortSignal;
  /** Told of the session before any hook is. */
  readonly onMade?: (session: Session) => void;
}

/** Opens a session, new or stored. */
export async function openSession(
  options: SessionOptions,
  { signal, onMade }: Opening = {},
): Promise<Session> {
  const session = new RunningSession(await prepare(options), options);
  onMade?.(session);
  try {
    await session.open(signal);
    return session;
  } catch (error) {
    await session.close('other');
    throw error;
  }
}

async function prepare(options: SessionOptions): Promise<PreparedSession> {
  try {
    return await prepareSession(options);
  } catch (error) {
    options.stored?.close();
    await options.release?.();
    throw error;
  }
}
