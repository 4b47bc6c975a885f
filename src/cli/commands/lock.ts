import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { colors } from '../output/colors.ts';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { isLink, readTextIfPresent } from '../../base/files.ts';
import type { Host } from '../../host/create-host.ts';
import { type ListedUnit, toTrustUnit } from '../../host/hook-set.ts';
import type { TrustUnit } from '../../trust/collect-unit.ts';
import {
  checkLock,
  createLock,
  formatLock,
  type Lock,
  type LockDifferences,
  parseLock,
} from '../../trust/lock.ts';
import { type Command, type CommandContext, rejectInsideSession, withHost } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { formatFoundCount } from '../output/describe-hooks.ts';
import { toOneLine } from '../output/print.ts';

const LOCK_FILE = 'hookline.lock.json';

/** `hookline lock`: writes the hashes of the workspace's hooks; `--check` compares them. */
export const lockHooks: Command<{
  readonly check?: boolean;
  readonly file?: string;
}> = (context, options) => {
  if (options.check !== true) rejectInsideSession(context, 'lock');
  const { lock, lockSha256: _sha256, ...flags } = context.flags;
  return withHost({ ...context, flags }, async (host) => {
    const file = resolveLockFile(host, options.file ?? lock);
    const locked = host.hooks().filter(isLockable);
    const units = locked.map(({ hook }) => toTrustUnit(hook));
    return options.check === true
      ? reportCheck(context, file, compareLock(parseLock(readLock(file), file), locked))
      : writeLock(context, file, units, formatFoundCount(locked.map(({ found }) => found)));
  });
};

/** A lock of version 1 knows no includes. */
function compareLock(lock: Lock, locked: readonly ListedUnit[]): LockDifferences {
  const known = locked.filter(({ found }) => lock.version !== 1 || found.kind !== 'include');
  return checkLock(
    lock,
    known.map(({ hook }) => toTrustUnit(hook)),
  );
}

/** A broken plugin is not loaded, so there is nothing to lock. */
function isLockable({ hook, found }: ListedUnit): boolean {
  return hook.place === 'workspace' && (found.kind !== 'plugin' || hook.problem === null);
}

/** An explicit path is relative to the cwd; the default file is in the workspace root. */
function resolveLockFile(
  { surroundings, workspaceRoots }: Host,
  lockFile: string | undefined,
): string {
  if (lockFile !== undefined) return path.resolve(surroundings.cwd, lockFile);
  return path.resolve(workspaceRoots[0] ?? surroundings.cwd, LOCK_FILE);
}

async function writeLock(
  { flags, print }: CommandContext,
  file: string,
  units: readonly TrustUnit[],
  count: string,
): Promise<ExitCode> {
  const lock = createLock(units);
  rejectLink(file);
  try {
    await writeFile(file, formatLock(lock));
  } catch (error) {
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: `the lock ${file} cannot be written: ${getErrorMessage(error)}`,
      hint: 'Pass another --file FILE.',
      cause: error,
    });
  }
  if (flags.json === true) print.json({ file, hooks: lock.hooks.map(({ id }) => id) });
  else {
    print.out(`Locked ${count} in ${toOneLine(file)}.`);
    print.out('Use it with `hookline --lock FILE …`, for example the base branch’s file in CI.');
  }
  return EXIT.fine;
}

/** A repository could use a link to overwrite any file of the user. */
function rejectLink(file: string): void {
  if (!isLink(file)) return;
  throw new HooklineError('CONFIG_UNWRITABLE', {
    message: `the lock ${file} is a link and is not overwritten`,
    hint: 'Remove the link, or pass another --file FILE.',
  });
}

function readLock(file: string): string {
  const text = readIfPresent(file);
  if (text !== null) return text;
  throw createUnreadableError(file, 'file not found');
}

function readIfPresent(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch (error) {
    throw createUnreadableError(file, getErrorMessage(error));
  }
}

function createUnreadableError(file: string, why: string): HooklineError {
  return new HooklineError('LOCK_INVALID', {
    message: `the lock ${file} cannot be read: ${why}`,
    hint: 'Write one with `hookline lock`.',
  });
}

function reportCheck(
  { flags, print }: CommandContext,
  file: string,
  differences: LockDifferences,
): ExitCode {
  const { added, removed, changed } = differences;
  const isSame = added.length + removed.length + changed.length === 0;
  if (flags.json === true) print.json({ file, same: isSame, ...differences });
  else if (isSame) print.out(`Hooks match ${toOneLine(file)}.`);
  else {
    print.out(`Hooks differ from ${toOneLine(file)}:`);
    for (const [word, list] of Object.entries({ added, removed, changed })) {
      for (const { id, paths } of list) {
        print.out(
          `  ${colors.yellow(word)} ${toOneLine(id)} ${colors.dim(paths.map(toOneLine).join(', '))}`,
        );
      }
    }
  }
  return isSame ? EXIT.fine : EXIT.refused;
}
