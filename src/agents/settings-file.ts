import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { getErrorCode, getErrorMessage, HooklineError, tryOrNull } from '../base/errors.ts';
import { isDirectory, isLink, readRegularFile } from '../base/files.ts';
import { findRealPath, isInside, resolveTarget } from '../base/paths.ts';

/** A file of another agent, as it was when opened. */
export interface SettingsFile {
  readonly path: string;
  /** Where the path leads; this is what gets written, so that a link stays a link. */
  readonly target: string;
  /** Null when there is no file. */
  readonly text: string | null;
  /** Of a file that exists. */
  readonly mode: number;
}

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Opens a file that will be changed; throws when that is not possible. A link in a project must not lead out
 * of `within`: whoever wrote the project would choose which file gets changed.
 */
export function openSettingsFile(file: string, within: string | null): SettingsFile {
  const target = findTarget(file, within);
  const stats = statSync(target, { throwIfNoEntry: false });
  if (stats === undefined) return { path: file, target, text: null, mode: 0 };
  return { path: file, target, text: readText(file, target), mode: stats.mode & 0o7777 };
}

function findTarget(file: string, within: string | null): string {
  const { path: target, isCertain } = resolveTarget(file);
  if (isLink(file) && findRealPath(file) === null) {
    throw createLinkError(file, 'nothing');
  }
  const isAllowed = within === null || isInside(findRealPath(within) ?? within, target);
  if (isCertain && isAllowed) return target;
  throw createLinkError(file, isCertain ? target : 'a place that cannot be found');
}

function createLinkError(file: string, target: string): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message: `${file} is a link, or lies below one, that leads to ${target}`,
    hint: 'Nothing was changed. Replace the link by a file, or add the entry there yourself.',
  });
}

function readText(file: string, target: string): string {
  const bytes = readBytes(file, target);
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw new HooklineError('CONFIG_INVALID', {
    message: `${file}: expected UTF-8, found other bytes`,
    hint: 'Save the file as UTF-8; nothing was changed.',
  });
}

function readBytes(file: string, target: string): Buffer {
  try {
    return readRegularFile(target, MAX_BYTES);
  } catch (error) {
    throw new HooklineError('CONFIG_UNREADABLE', {
      message: `${file} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Check what it is and its permissions; nothing was changed.',
      cause: error,
    });
  }
}

/** Throws when the file cannot be replaced, so that nothing else is written before that is known. */
export function checkWritable({ path: file, target, text, mode }: SettingsFile): void {
  // The owner's bit, because root may write everything and this bit says what the owner wants.
  if (text !== null && (mode & 0o200) === 0) throw createReadOnlyError(file, 'it is read-only');
  try {
    if (text !== null) accessSync(target, constants.W_OK);
    accessSync(findNearestDirectory(path.dirname(target)), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw createReadOnlyError(file, getErrorMessage(error));
  }
}

function createReadOnlyError(file: string, why: string): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message: `${file} cannot be changed: ${why}`,
    hint: 'Make the file and its directory writable; nothing was changed.',
  });
}

function findNearestDirectory(directory: string): string {
  const parent = path.dirname(directory);
  return isDirectory(directory) || parent === directory ? directory : findNearestDirectory(parent);
}

/** Lists the directories that are missing above a file, the outermost first. */
export function listMissingDirectories(file: string): readonly string[] {
  const directory = path.dirname(file);
  return isDirectory(directory) || directory === file
    ? []
    : [...listMissingDirectories(directory), directory];
}

/** Creates directories; one that somebody else created meanwhile is fine. */
export function createDirectory(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error;
  }
}

/** Removes a directory unless something is in it. */
export function removeEmptyDirectory(directory: string): void {
  // Fails when somebody uses it, or when it is gone: both are as they should be.
  tryOrNull(() => rmdirSync(directory));
}

/** The name of the new file before it replaces the old one; no agent reads a file with this ending. */
export function getTemporaryPath(target: string): string {
  return `${target}.hookline-new`;
}

/** Writes the new file beside the old one, with its mode and owner. */
export function writeTemporary(target: string, text: string, mode: number): void {
  const temporary = getTemporaryPath(target);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { flag: 'wx', mode });
  chmodSync(temporary, mode);
  const before = statSync(target, { throwIfNoEntry: false });
  if (before !== undefined) keepOwner(temporary, before);
  const handle = openSync(temporary, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function keepOwner(file: string, { uid, gid }: Stats): void {
  const own = statSync(file);
  if (own.uid !== uid || own.gid !== gid) chownSync(file, uid, gid);
}

/** Replaces the file in one step. */
export function moveTemporary(target: string): void {
  renameSync(getTemporaryPath(target), target);
}
