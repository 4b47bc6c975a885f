import type { ToolContext } from '../tool-context.ts';
import { readPath, formatIsDirectory, describeFileError, MAX_WHOLE_BYTES } from './read-path.ts';
import { decodeText, encodeText, type TextFile } from './text-file.ts';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import { getErrorCode } from '../../../base/errors.ts';
import { isDirectory } from '../../../base/files.ts';
import { resolveTarget } from '../../../base/paths.ts';

/** The content of a file, and whether the agent has read that content. */
export interface EditableFile {
  readonly content: TextFile;
  /** Why the agent must read the file first; null when it has. */
  readonly problem: string | null;
}

/** Null when the file does not exist; a string says why it cannot be edited at all. */
export function openForEdit(file: string, context: ToolContext): EditableFile | null | string {
  const found = readPath(file, MAX_WHOLE_BYTES);
  if (found.is === 'absent') return null;
  if (found.is === 'directory') return formatIsDirectory(file);
  if (found.is === 'unreadable') return `Cannot read ${file}: ${found.why}.`;
  if (found.is === 'large') return formatTooLarge(file, found.size);
  const content = decodeText(found.bytes);
  if (content === null) return `${file} is a binary file. Only text can be changed by this tool.`;
  const read =
    context.isReadOptional === true ? 'same' : context.readFiles.compare(file, found.bytes);
  return { content, problem: READ_PROBLEMS[read] };
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

/** Writes a text and marks it as read; a string says why it failed. */
export function saveText(file: string, content: TextFile, context: ToolContext): string | null {
  const bytes = encodeText(content);
  if (typeof bytes === 'string') return `Cannot write ${file}: ${bytes}.`;
  const failure = replaceFile(file, bytes);
  if (failure === null) context.readFiles.markWritten(file, bytes);
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
 * Replaces a file's content atomically and creates missing parent directories. Links stay links, and mode
 * and owner are kept. A string says why it failed.
 */
export function replaceFile(file: string, bytes: Uint8Array): string | null {
  try {
    // Also through a link to a missing file.
    const { path: target, isCertain } = resolveTarget(file);
    // The kernel's own error says more, where it has one.
    if (!isCertain && statSync(file) !== undefined) {
      return `Cannot write ${file}: its symbolic links cannot be resolved.`;
    }
    createDirectories(path.dirname(target));
    const old = statSync(target, { throwIfNoEntry: false });
    if (old !== undefined && old.nlink > 1) writeInPlace(target, bytes);
    else writeAndRename(target, bytes, old);
    return null;
  } catch (error) {
    return `Cannot write ${file}: ${describeFileError(error)}.`;
  }
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
  // Created with the old mode, so that no other user can read it in between.
  const handle = openSync(file, 'wx', old === undefined ? 0o666 : old.mode & 0o777);
  try {
    writeFileSync(handle, bytes);
    if (old !== undefined) copyOwnerAndMode(file, handle, old);
  } finally {
    closeSync(handle);
  }
}

function copyOwnerAndMode(file: string, handle: number, old: Stats): void {
  const created = fstatSync(handle);
  if (created.uid !== old.uid || created.gid !== old.gid) chownSync(file, old.uid, old.gid);
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
