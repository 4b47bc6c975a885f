import { statSync } from 'node:fs';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { isLink, readSettingsTextIfPresent } from '../base/files.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import { writeHookFile } from './write-hook-file.ts';

/** A file that configures hooks, as it was when opened. */
export interface HooksFile {
  readonly file: string;
  /** Empty when the file does not exist. */
  readonly text: string;
  /** Writes the text; fails when the file has changed since it was opened. */
  write(text: string): void;
}

/** Opens a file for editing. Links must not lead out of `within`, unless it is null. */
export function openConfigFile(file: string, within: string | null): HooksFile {
  const target = findTarget(file, within);
  const text = readText(target);
  return {
    file,
    text: text ?? '',
    write(changed) {
      if (readText(target) !== text) throw createConflictError(file);
      writeHookFile({ path: target, text: changed, mode: readMode(target), within });
    },
  };
}

/** Runs an edit and adds the file name to its error. */
export function runEdit<Result>(file: string, edit: () => Result): Result {
  try {
    return edit();
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    const { code, message, hint } = error;
    throw new HooklineError(code, {
      message: `${file}: ${message}`,
      ...dropUndefined({ hint }),
      cause: error,
    });
  }
}

/** Resolves a link, so that its target is edited. */
function findTarget(file: string, within: string | null): string {
  const real = findRealPath(file);
  if (real === null && isLink(file)) throw createLinkError(file, 'nothing');
  const target = isLink(file) ? (real ?? file) : file;
  const isAllowed = within === null || isInside(findRealPath(within) ?? within, real ?? target);
  if (real === null || isAllowed) return target;
  throw createLinkError(file, real);
}

function createLinkError(file: string, target: string): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message: `${file} is a link to ${target}, which is not written to`,
    hint: 'Replace the link with a file, or edit its target yourself.',
  });
}

function readText(file: string): string | null {
  try {
    return readSettingsTextIfPresent(file);
  } catch (error) {
    throw new HooklineError('CONFIG_UNREADABLE', {
      message: `${file} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Check its permissions; nothing was changed.',
      cause: error,
    });
  }
}

function readMode(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? 0o644 : stats.mode & 0o777;
}

function createConflictError(file: string): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message: `${file} was changed by another process`,
    hint: 'Nothing was written; run the command again.',
  });
}
