import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import type { NewHookFile } from './templates.ts';

/** Writes a hook file and creates its directories; replaces an existing file. */
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

/** Whether anything exists at this path, even a dangling link. */
export function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A path that cannot be read cannot be written either, and the write reports why.
    return false;
  }
}

/** Throws when a link in a repository leads to a file outside of it. */
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
  // Null for a dangling link, through which the directory would be created.
  return findRealPath(directory);
}

// Renames a temporary file, which replaces a link instead of writing through it.
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

/** Compares names and real directories; a link differs from its target. */
export function isSameFile(one: string, other: string): boolean {
  return resolveParent(one) === resolveParent(other);
}

function resolveParent(file: string): string {
  const parent = path.dirname(file);
  return path.join(findRealPath(parent) ?? parent, path.basename(file));
}
