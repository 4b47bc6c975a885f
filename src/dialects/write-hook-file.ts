import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import type { NewHookFile } from './templates.ts';

/** Puts a hook file in its place, with the directories above it; whatever is there is replaced. */
export function writeHookFile(file: NewHookFile): void {
  if (file.within !== null) refuseWayOut(file.path, file.within);
  try {
    mkdirSync(path.dirname(file.path), { recursive: true });
    replaceFile(file);
  } catch (error) {
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: `${file.path} could not be written: ${getErrorMessage(error)}`,
      hint: `Everything above it must be a directory that you may write${file.path.includes('.clinerules') ? ': .clinerules as a file can become .clinerules/rules.md' : ''}.`,
      cause: error,
    });
  }
}

/** Whether anything has this name, be it a link to nothing. */
export function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What cannot be looked at cannot be written either, and writing it says why.
    return false;
  }
}

/** A link in a repository must not decide which file outside of it is written. */
function refuseWayOut(file: string, within: string): void {
  const real = findNearestRealDirectory(path.dirname(file));
  if (real !== null && isInside(findRealPath(within) ?? within, real)) return;
  throw new HooklineError('CONFIG_UNWRITABLE', {
    message: `${path.dirname(file)} is expected inside ${within}, but a link leads to ${real ?? 'nothing'}`,
    hint: 'Replace the link by a directory, or use --global for a hook of your own.',
  });
}

function findNearestRealDirectory(directory: string): string | null {
  const parent = path.dirname(directory);
  if (!isThere(directory) && parent !== directory) return findNearestRealDirectory(parent);
  // Null for a link to nothing yet, through which the directory would be created.
  return findRealPath(directory);
}

// Renaming replaces a link itself, where writing would go through it.
function replaceFile({ path: file, text, mode }: NewHookFile): void {
  const fresh = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  rmSync(fresh, { force: true });
  try {
    writeFileSync(fresh, text, { flag: 'wx' });
    chmodSync(fresh, mode);
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** The same name in the same real directory; a link is not what it leads to. */
export function isSameFile(one: string, other: string): boolean {
  return resolveParent(one) === resolveParent(other);
}

function resolveParent(file: string): string {
  const parent = path.dirname(file);
  return path.join(findRealPath(parent) ?? parent, path.basename(file));
}
