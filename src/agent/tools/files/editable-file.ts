import type { ToolContext } from '../tool-context.ts';
import { readPath, formatIsDirectory, describeFileError } from './read-path.ts';
import { decodeText, encodeText, type TextFile } from './text-file.ts';
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

/** What is read at once, and what Edit, Write and NotebookEdit change. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024;

/** A file as it stands, and whether the agent has seen it so; null when there is none. */
export interface EditableFile {
  readonly content: TextFile;
  /** Why the agent must read it first; null when it has. */
  readonly problem: string | null;
}

/** A string says why it cannot be changed, whatever the agent has read. */
export function openForEdit(file: string, bench: ToolContext): EditableFile | null | string {
  const found = readPath(file, MAX_WHOLE_BYTES);
  if (found.is === 'absent') return null;
  if (found.is === 'directory') return formatIsDirectory(file);
  if (found.is === 'unreadable') return `Cannot read ${file}: ${found.why}.`;
  if (found.is === 'large') return formatTooLarge(file, found.size);
  const content = decodeText(found.bytes);
  if (content === null) return `${file} is a binary file. Only text can be changed by this tool.`;
  return { content, problem: READ_PROBLEMS[bench.readFiles.compare(file, found.bytes)] };
}

const READ_PROBLEMS = {
  unread: 'File has not been read yet. Read it first before writing to it.',
  changed:
    'File has been modified since it was read, by the user, a command or a hook. Read it again before attempting to write it.',
  same: null,
};

function formatTooLarge(file: string, size: number): string {
  const limit = formatBytes(MAX_WHOLE_BYTES);
  return `${file} is too large to change by this tool (${formatBytes(size)}, at most ${limit}). Use a command in Bash.`;
}

/** Writes a text and remembers it as seen; a string says why it failed. */
export function saveText(file: string, content: TextFile, bench: ToolContext): string | null {
  const bytes = encodeText(content);
  if (typeof bytes === 'string') return `Cannot write ${file}: ${bytes}.`;
  const failure = replaceFile(file, bytes);
  if (failure === null) bench.readFiles.markRead(file, bytes);
  return failure;
}

export function formatBytes(size: number): string {
  const kilobytes = size / 1024;
  return kilobytes < 1024 ? `${roundToTenth(kilobytes)}KB` : `${roundToTenth(kilobytes / 1024)}MB`;
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

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
    else writeAndRename(target, bytes, old);
    return null;
  } catch (error) {
    return `Cannot write ${file}: ${describeFileError(error)}.`;
  }
}

const MAX_LINKS = 40;

/** Where writing goes, also through a link to a file that is not there yet. */
function followLinks(file: string, links = 0): string {
  const real = findRealPath(file);
  if (real !== null || links >= MAX_LINKS) return real ?? file;
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

function writeAndRename(target: string, bytes: Uint8Array, old: Stats | undefined): void {
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
