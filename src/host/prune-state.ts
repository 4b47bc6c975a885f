import { statSync } from 'node:fs';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { appendPrivateFile } from '../base/files.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_AGE_DAYS = 30;

/** Directories with files of old sessions that are no longer needed. */
const SESSION_DIRECTORIES = ['transcripts', 'session-env', 'tool-results', 'pycache'];

/** Removes files of old sessions, at most once a day. Returns the reason of a failure, or null. */
export async function pruneState(stateDirectory: string, nowMs: number): Promise<string | null> {
  try {
    const markFile = path.join(stateDirectory, 'pruned');
    // Synchronously, because loading what works on files in the background takes longer than looking.
    const prunedMs = statSync(markFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (nowMs - prunedMs < DAY_MS) return null;
    await rm(markFile, { force: true });
    appendPrivateFile(markFile, '');
    const oldest = nowMs - MAX_AGE_DAYS * DAY_MS;
    for (const name of SESSION_DIRECTORIES) {
      await pruneDirectory(path.join(stateDirectory, name), oldest);
    }
    return null;
  } catch (error) {
    return `files of old sessions in ${stateDirectory} could not be removed: ${getErrorMessage(error)}`;
  }
}

async function readModifiedTime(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

async function pruneDirectory(directory: string, oldest: number): Promise<void> {
  const isOld = (await readModifiedTime(directory)) < oldest;
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) await pruneDirectory(file, oldest);
    else if ((await readModifiedTime(file)) < oldest) await rm(file, { force: true });
  }
  // Fails for a directory that is not empty, as intended.
  if (isOld) await rmdir(directory).catch(() => undefined);
}
