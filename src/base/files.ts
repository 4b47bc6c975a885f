import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getErrorCode, HooklineError } from './errors.ts';

const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

/** The file's text, or null when there is no such file; other errors are thrown. */
export function readTextIfPresent(file: string): string | null {
  try {
    // Most files that are asked for do not exist, and an exception is dear.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return null;
    return readRegularFile(file);
  } catch (error) {
    if (isNotFoundError(error)) return null;
    throw error;
  }
}

// A repository may hold a link to a device that never ends; opening a FIFO would wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

function readRegularFile(file: string): string {
  const handle = openSync(file, OPEN_FLAGS);
  try {
    if (fstatSync(handle).isFile()) return readFileSync(handle, 'utf8');
    throw new HooklineError('CONFIG_UNREADABLE', { message: 'it is not a regular file' });
  } finally {
    closeSync(handle);
  }
}

/** Whether a directory is there that can be looked at. */
export function isDirectory(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
}

/** Whether a link is there, wherever it leads. */
export function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Whether a file holds what programs write beside themselves, by its name. */
export function isDataFile(name: string): boolean {
  return /\.(?:log|jsonl|pid|db|sqlite3?|tmp|swp)$|^\.DS_Store$/i.test(name);
}

/** The same for a directory. */
export function isDataDirectory(name: string): boolean {
  return /^(?:logs?|state|\.?cache|te?mp|__pycache__)$/i.test(name);
}

export function isNotFoundError(error: unknown): boolean {
  const code = getErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Replaces a file in one step, readable by its owner only; the old content survives a crash. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  createPrivateDirectory(path.dirname(file));
  const { default: writeFileAtomic } = await import('write-file-atomic');
  await writeFileAtomic(file, text, { mode: PRIVATE_FILE });
}

export function appendPrivateFile(file: string, text: string): void {
  createPrivateDirectory(path.dirname(file));
  appendFileSync(file, text, { mode: PRIVATE_FILE });
}

/** One level after the other: asked for all at once, Node.js 20 never comes back from some places. */
export function createPrivateDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  const parent = path.dirname(directory);
  if (parent !== directory) createPrivateDirectory(parent);
  try {
    mkdirSync(directory, { mode: PRIVATE_DIRECTORY });
    chmodSync(directory, PRIVATE_DIRECTORY);
  } catch (error) {
    // Another process may have been faster.
    if (getErrorCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error;
  }
}

/**
 * Reads, changes and replaces a file while no other process does the same,
 * so that two commands at once lose nothing.
 */
export async function updatePrivateFile(
  file: string,
  change: (text: string | null) => string,
): Promise<void> {
  createPrivateDirectory(path.dirname(file));
  const { default: lockfile } = await import('proper-lockfile');
  const release = await lockfile.lock(file, {
    realpath: false,
    stale: 10_000,
    // Longer than `stale` in all, so that the lock of a killed process is waited out.
    retries: { retries: 40, minTimeout: 20, maxTimeout: 500 },
  });
  try {
    await writePrivateFile(file, change(readTextIfPresent(file)));
  } finally {
    await release();
  }
}

let nameless = 0;

/**
 * A descriptor of a file that has no name any more: whoever is handed it can read it, and open it once
 * more as `/dev/stdin`, which a socket does not let them. Null when there is no place for it.
 */
export function openAnonymousFile(content: Uint8Array): number | null {
  nameless += 1;
  const file = path.join(
    tmpdir(),
    `hookline-${process.pid}-${process.hrtime.bigint()}-${nameless}`,
  );
  try {
    const descriptor = openSync(file, 'wx+', PRIVATE_FILE);
    unlinkSync(file);
    for (let at = 0; at < content.length;) at += writeSync(descriptor, content, at, undefined, at);
    return descriptor;
  } catch {
    return null;
  }
}

/** Replaces a file in one step and at once, for use while a lock is held; throws on failure. */
export function replacePrivateFile(file: string, content: string | Uint8Array): void {
  createPrivateDirectory(path.dirname(file));
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content, { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
