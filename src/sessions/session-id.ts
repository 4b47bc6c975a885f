import { readdirSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { isNotFoundError } from '../base/files.ts';

/** The parent directory of all session directories. */
export function getSessionsDirectory(stateDirectory: string): string {
  return path.join(stateDirectory, 'sessions');
}

/** Ids come from the user and become directory names, so they must not contain path separators. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,127}$/u.test(text) && !text.endsWith('.');
}

/** The ids of all stored sessions. */
export function readSessionIds(sessions: string): readonly string[] {
  try {
    const entries = readdirSync(sessions, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && isSessionId(entry.name))
      .map(({ name }) => name);
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw new HooklineError('CONFIG_UNREADABLE', {
      message: `the stored sessions in ${sessions} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Check the permissions of the directory.',
      cause: error,
    });
  }
}

/** The id of the one stored session with this id or prefix; throws SESSION_UNKNOWN otherwise. */
export function resolveSessionId(stateDirectory: string, idOrPrefix: string): string {
  const ids = readSessionIds(getSessionsDirectory(stateDirectory));
  if (ids.includes(idOrPrefix)) return idOrPrefix;
  const [found, ...others] = idOrPrefix === '' ? [] : ids.filter((id) => id.startsWith(idOrPrefix));
  if (found === undefined) throw createUnknownSessionError(idOrPrefix);
  if (others.length === 0) return found;
  const matching = [found, ...others].toSorted();
  const listed = matching.slice(0, MAX_LISTED).join(', ');
  throw new HooklineError('SESSION_UNKNOWN', {
    message: `${matching.length} sessions have ids that begin with ${JSON.stringify(idOrPrefix)}: ${listed}${matching.length > MAX_LISTED ? ' …' : ''}`,
    hint: 'Use a longer prefix.',
  });
}

const MAX_LISTED = 10;

export function createUnknownSessionError(id: string): HooklineError {
  return new HooklineError('SESSION_UNKNOWN', {
    message: `session ${JSON.stringify(id)} not found`,
    hint: 'List the stored sessions with `hookline sessions list`.',
  });
}
