import { statSync } from 'node:fs';
import { HooklineError, isHooklineError, getErrorMessage } from '../../base/errors.ts';
import { isLink, readTextIfPresent } from '../../base/files.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { writeHookFile } from '../../templates/write-file.ts';

/** A file that configures hooks, as it was when it was opened. */
export interface HooksFile {
  readonly file: string;
  /** Empty when there is none. */
  readonly text: string;
  /** Replaces the text; refuses when somebody else has changed the file since it was opened. */
  write(text: string): void;
}

/** Opens a file to change it. `within` is the directory that links must not lead out of, or null. */
export function openHooksFile(file: string, within: string | null): HooksFile {
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

/** Says of an edit that fails which file it was. */
export function runFileEdit(file: string, edit: () => string): string {
  try {
    return edit();
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    const { code, message, hint } = error;
    throw new HooklineError(code, {
      message: `${file}: ${message}`,
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
}

/** What a link leads to is changed, not the link, so that settings may live in another place. */
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
    message: `${file} is a link that leads to ${target}, where nothing is written`,
    hint: 'Replace the link by a file, or edit what it leads to by hand.',
  });
}

function readText(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch (error) {
    throw new HooklineError('CONFIG_UNREADABLE', {
      message: `${file} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Check its rights; nothing was changed.',
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
    message: `${file} was changed by somebody else in the meantime`,
    hint: 'Nothing was written; run the command again.',
  });
}
