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
import { sayFileError } from './look-into.ts';

/**
 * Gives a file new content in one step, so that nobody ever reads half of it, and makes the directories
 * above it. Links stay links; the file keeps its mode and owner. A string says why it failed.
 */
export function replaceFile(file: string, bytes: Uint8Array): string | null {
  try {
    const target = followLinks(file);
    createDirectories(path.dirname(target));
    const old = statSync(target, { throwIfNoEntry: false });
    if (old !== undefined && old.nlink > 1) writeInPlace(target, bytes);
    else swapIn(target, bytes, old);
    return null;
  } catch (error) {
    return `Cannot write ${file}: ${sayFileError(error)}.`;
  }
}

const MOST_LINKS = 40;

/** Where writing goes, also through a link to a file that is not there yet. */
function followLinks(file: string, links = 0): string {
  const real = findRealPath(file);
  if (real !== null || links >= MOST_LINKS) return real ?? file;
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return file;
  const directory = findRealPath(path.dirname(file)) ?? path.dirname(file);
  return followLinks(path.resolve(directory, readlinkSync(file)), links + 1);
}

/** One level after the other: asked for all at once, Node.js 20 never comes back from some places. */
function createDirectories(directory: string): void {
  if (isDirectory(directory)) return;
  const parent = path.dirname(directory);
  if (parent !== directory) createDirectories(parent);
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process may have been faster.
    if (getErrorCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error;
  }
}

function swapIn(target: string, bytes: Uint8Array, old: Stats | undefined): void {
  // Not the file's own name and more, which might be too long.
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

// The directory may be closed to us while the file is not; a mounted file cannot be swapped.
function canBeWrittenInPlace(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EBUSY', 'EXDEV'].includes(getErrorCode(error) ?? '');
}

function writeNew(file: string, bytes: Uint8Array, old: Stats | undefined): void {
  // Nobody may read in the meantime what they could not read before.
  const handle = openSync(file, 'wx', old === undefined ? 0o666 : old.mode & 0o777);
  try {
    writeFileSync(handle, bytes);
    if (old !== undefined) keepOwnerAndMode(file, handle, old);
  } finally {
    closeSync(handle);
  }
}

function keepOwnerAndMode(file: string, handle: number, old: Stats): void {
  const made = fstatSync(handle);
  if (made.uid !== old.uid || made.gid !== old.gid) chownSync(file, old.uid, old.gid);
  chmodSync(file, old.mode & 0o7777);
}

// A swap would part the names of a file that has several.
function writeInPlace(target: string, bytes: Uint8Array): void {
  const handle = openSync(target, 'r+');
  try {
    writeFileSync(handle, bytes);
    // Only now: had the disk been full, most of the old content would still be there.
    ftruncateSync(handle, bytes.length);
  } finally {
    closeSync(handle);
  }
}
