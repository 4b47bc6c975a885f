import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import { getErrorCode } from '../../../base/errors.ts';
import { isDirectory } from '../../../base/files.ts';
import { findRealPath } from '../../../base/paths.ts';
import { describeFileError } from './read-path.ts';

/**
 * Replaces a file's content atomically and creates missing parent directories. Links stay links, and mode
 * and owner are kept. A string says why it failed.
 */
export function replaceFile(file: string, bytes: Uint8Array): string | null {
  try {
    const target = followLinks(file);
    createDirectories(path.dirname(target));
    const old = statSync(target, { throwIfNoEntry: false });
    if (old !== undefined && old.nlink > 1) writeInPlace(target, bytes);
    else writeAndRename(target, bytes, old);
    return null;
  } catch (error) {
    return `Cannot write ${file}: ${describeFileError(error)}.`;
  }
}

const MAX_LINKS = 40;

/** The file that a write reaches, also through a link to a missing file. */
function followLinks(file: string, links = 0): string {
  const real = findRealPath(file);
  if (real !== null || links >= MAX_LINKS) return real ?? file;
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return file;
  const directory = findRealPath(path.dirname(file)) ?? path.dirname(file);
  return followLinks(path.resolve(directory, readlinkSync(file)), links + 1);
}

/** One level at a time: recursive mkdir hangs on some paths in Node.js 20. */
function createDirectories(directory: string): void {
  if (isDirectory(directory)) return;
  const parent = path.dirname(directory);
  if (parent !== directory) createDirectories(parent);
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process may have created it.
    if (getErrorCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error;
  }
}

function writeAndRename(target: string, bytes: Uint8Array, old: Stats | undefined): void {
  // A short name, because the file's own name plus a suffix might be too long.
  const temporary = path.join(
    path.dirname(target),
    `.hookline-${randomBytes(6).toString('hex')}.tmp`,
  );
  try {
    writeNew(temporary, bytes, old);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (old === undefined || !canBeWrittenInPlace(error)) throw error;
    writeInPlace(target, bytes);
  }
}

// The directory may be read-only while the file is not, and a mounted file cannot be renamed over.
function canBeWrittenInPlace(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EBUSY', 'EXDEV'].includes(getErrorCode(error) ?? '');
}

function writeNew(file: string, bytes: Uint8Array, old: Stats | undefined): void {
  // Created with the old mode, so that nobody can read it in between who could not before.
  const handle = openSync(file, 'wx', old === undefined ? 0o666 : old.mode & 0o777);
  try {
    writeFileSync(handle, bytes);
    if (old !== undefined) copyOwnerAndMode(file, handle, old);
  } finally {
    closeSync(handle);
  }
}

function copyOwnerAndMode(file: string, handle: number, old: Stats): void {
  const made = fstatSync(handle);
  if (made.uid !== old.uid || made.gid !== old.gid) chownSync(file, old.uid, old.gid);
  chmodSync(file, old.mode & 0o7777);
}

// Renaming would break the hard links of the file.
function writeInPlace(target: string, bytes: Uint8Array): void {
  const handle = openSync(target, 'r+');
  try {
    writeFileSync(handle, bytes);
    // Truncated last, so that a full disk leaves most of the old content.
    ftruncateSync(handle, bytes.length);
  } finally {
    closeSync(handle);
  }
}
