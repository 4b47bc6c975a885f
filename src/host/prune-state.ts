import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { appendPrivateFile } from '../base/files.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const KEPT_DAYS = 30;

/** What hooks of a session leave behind, and nobody asks for once the session is long over. */
const OF_SESSIONS = ['transcripts', 'session-env', 'tool-results', 'pycache'];

/** Removes what old sessions left, at most once a day. Says why it could not, or null. */
export async function pruneState(stateDirectory: string, nowMs: number): Promise<string | null> {
  try {
    const mark = path.join(stateDirectory, 'pruned');
    if (nowMs - (await modifiedAt(mark)) < DAY_MS) return null;
    await rm(mark, { force: true });
    appendPrivateFile(mark, '');
    const oldest = nowMs - KEPT_DAYS * DAY_MS;
    for (const name of OF_SESSIONS) await pruneDirectory(path.join(stateDirectory, name), oldest);
    return null;
  } catch (error) {
    return `what old sessions left in ${stateDirectory} stays there: ${getErrorMessage(error)}`;
  }
}

async function modifiedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

async function pruneDirectory(directory: string, oldest: number): Promise<void> {
  const isOld = (await modifiedAt(directory)) < oldest;
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const place = path.join(directory, entry.name);
    if (entry.isDirectory()) await pruneDirectory(place, oldest);
    else if ((await modifiedAt(place)) < oldest) await rm(place, { force: true });
  }
  // Fails, as it should, when something is left in it.
  if (isOld) await rmdir(directory).catch(() => undefined);
}
