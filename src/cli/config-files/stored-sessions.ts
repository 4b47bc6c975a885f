import { systemClock } from '../../base/clock.ts';
import { HooklineError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { readSurroundings, getStateDirectory } from '../../host/surroundings.ts';
import { createSessionStore } from '../../sessions/jsonl-session-store.ts';
import type { SessionStore } from '../../sessions/session-store.ts';

/** Opens the session store without a host. */
export function openStoredSessions(): {
  readonly stateDirectory: string;
  readonly store: SessionStore;
} {
  const directory = getStateDirectory(readSurroundings());
  if (directory === null) {
    throw new HooklineError('CONFIG_UNREADABLE', {
      message: 'no home directory for sessions',
      hint: 'Set HOOKLINE_HOME to a directory.',
    });
  }
  const options = { stateDirectory: directory, clock: systemClock, version: VERSION };
  return { stateDirectory: directory, store: createSessionStore(options) };
}
