import { readdirSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { isNotFoundError } from '../base/files.ts';

/** The directory that holds one directory for each session. */
export function getSessionsDirectory(stateDirectory: string): string {
  return path.join(stateDirectory, 'sessions');
}

/** Ids come from people and become names of directories, so they must lead nowhere else. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,127}$/u.test(text) && !text.endsWith('.');
}

/** The ids of all that is stored; none when nothing ever was. */
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
      hint: 'Check the rights of the directory.',
      cause: error,
    });
  }
}

/** The one stored session whose id is this or begins with it; throws SESSION_UNKNOWN otherwise. */
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
    hint: 'Say more of the id.',
  });
}

const MAX_LISTED = 10;

export function createUnknownSessionError(id: string): HooklineError {
  return new HooklineError('SESSION_UNKNOWN', {
    message: `there is no stored session ${JSON.stringify(id)}`,
    hint: 'See which there are with `hookline sessions list`.',
  });
}
