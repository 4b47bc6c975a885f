import { randomUUID } from 'node:crypto';
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
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import path from 'node:path';
import { getErrorCode, getErrorMessage, HooklineError } from './errors.ts';

const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

const MIB = 1024 * 1024;
/** More than any settings, script or text for a model has; a repository may contain more. */
const MOST_BYTES = 64 * MIB;

/** The file's text, or null when there is no such file; other errors are thrown. */
export function readTextIfPresent(file: string, mostBytes = MOST_BYTES): string | null {
  try {
    // Most of these files do not exist, and an exception is expensive.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return null;
    return readRegularFile(file, mostBytes).toString('utf8');
  } catch (error) {
    if (isNotFoundError(error)) return null;
    throw error;
  }
}

/** The same for a settings file, in whose place a sandbox keeps an empty directory while a command runs. */
export function readSettingsTextIfPresent(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true && readdirSync(file).length === 0) return null;
  return readTextIfPresent(file);
}

// A repository may contain a FIFO: opening it in blocking mode would wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The bytes of a regular file; throws for anything else and for one that is too large. */
export function readRegularFile(file: string, mostBytes = MOST_BYTES): Buffer {
  const handle = openSync(file, OPEN_FLAGS);
  try {
    const stats = fstatSync(handle);
    const found = stats.isFile() ? describeSize(stats.size, mostBytes) : 'it is not a regular file';
    if (found !== null) throw new HooklineError('CONFIG_UNREADABLE', { message: found });
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

function describeSize(bytes: number, most: number): string | null {
  if (bytes <= most) return null;
  return `expected at most ${Math.floor(most / MIB)} MB, found ${Math.floor(bytes / MIB)} MB`;
}

/** Whether the path is a directory, or a link to one. */
export function isDirectory(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Whether the path is a regular file, or a link to one. */
export function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

/** Whether the path is a symbolic link, dangling or not. */
export function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Whether the name is that of a log, database or other file that programs write at run time. */
export function isDataFile(name: string): boolean {
  return /\.(?:log|jsonl|pid|db|sqlite3?|tmp|swp)$|^\.DS_Store$/i.test(name);
}

/** Whether the name is that of a directory for logs, caches or state. */
export function isDataDirectory(name: string): boolean {
  return /^(?:logs?|state|\.?cache|te?mp|__pycache__)$/i.test(name);
}

export function isNotFoundError(error: unknown): boolean {
  const code = getErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

const FILE_ERRORS = new Map([
  ['ENOENT', 'file not found'],
  ['ENOTDIR', 'file not found'],
  ['EISDIR', 'it is a directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
]);

/** Says for a message that names the file why it could not be read; the system's own words name it again. */
export function explainFileError(error: unknown): string {
  return FILE_ERRORS.get(getErrorCode(error) ?? '') ?? getErrorMessage(error);
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

/** Creates one level after the other: a recursive mkdir hangs in Node.js 20 on some paths. */
export function createPrivateDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  const parent = path.dirname(directory);
  if (parent !== directory) createPrivateDirectory(parent);
  try {
    mkdirSync(directory, { mode: PRIVATE_DIRECTORY });
    chmodSync(directory, PRIVATE_DIRECTORY);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (getErrorCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error;
  }
}

/**
 * Reads, changes and replaces a file while no other process does the same,
 * so that two commands at once lose nothing. `onWritten` is called before the next process may change it.
 */
export async function updatePrivateFile(
  file: string,
  change: (text: string | null) => string,
  onWritten: (text: string) => void = () => undefined,
): Promise<void> {
  await withFileLock(file, async () => {
    const text = change(readTextIfPresent(file));
    await writePrivateFile(file, text);
    onWritten(text);
  });
}

/** Does something while no other process does so with the lock of the same file, which need not exist. */
export async function withFileLock<Result>(
  file: string,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  createPrivateDirectory(path.dirname(file));
  const { default: lockfile } = await import('proper-lockfile');
  const release = await lockfile.lock(file, {
    realpath: false,
    stale: 10_000,
    // Longer than `stale` in all, so that the lock of a killed process is waited out.
    retries: { retries: 40, minTimeout: 20, maxTimeout: 500 },
  });
  try {
    return await work();
  } finally {
    await release();
  }
}

/**
 * A descriptor of a file with this content and without a name. A child that gets it as its standard
 * input can also open `/dev/stdin`, which a socket does not allow. Null when it cannot be created.
 */
export function openAnonymousFile(content: Uint8Array): number | null {
  try {
    // Nothing to read is what most commands get, and this file exists already.
    if (content.length === 0) return openSync(devNull, 'r');
    return createAnonymousFile(content);
  } catch {
    return null;
  }
}

/** A descriptor of a file without a name, to which writers append. */
export function createAnonymousFile(content: Uint8Array): number {
  const file = path.join(tmpdir(), `hookline-${randomUUID()}`);
  const descriptor = openSync(file, 'ax+', PRIVATE_FILE);
  try {
    unlinkSync(file);
    for (let at = 0; at < content.length;) at += writeSync(descriptor, content, at, undefined, at);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    rmSync(file, { force: true });
    throw error;
  }
}

/** Replaces a file in one step, synchronously, for use while a lock is held; throws on failure. */
export function replacePrivateFileSync(file: string, content: string | Uint8Array): void {
  createPrivateDirectory(path.dirname(file));
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content, { mode: PRIVATE_FILE });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
