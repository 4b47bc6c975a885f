import { type BigIntStats, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { memoizePerWave } from '../base/memoize.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import { createTrustChecker, type TrustChecker } from '../trust/trust-checker.ts';
import { isSameState } from '../trust/fingerprint.ts';
import { type Lock, parseLock, verifyLockSha256 } from '../trust/lock.ts';
import { tryReadTrustRecord, type TrustRecord } from '../trust/trust-record.ts';

/** A lock that the caller vouches for, if its bytes are the ones that were meant. */
export interface NamedLock {
  readonly file: string;
  readonly sha256?: string;
}

export interface Trust {
  readonly checker: TrustChecker;
  /** Where decisions are kept; null when there is no home directory. */
  readonly recordFile: string | null;
  /** The record as it is now, or why it is not believed. */
  readonly record: TrustRecord | HooklineError;
  /** Workspaces that must not hold the record. */
  readonly guardedRoots: readonly string[];
  /** What a person should know about the record itself. */
  readonly notices: readonly string[];
}

export interface TrustRequest {
  readonly stateDirectory: string | null;
  readonly workspaceRoots: readonly string[];
  readonly home: string | null;
  readonly lock: NamedLock | undefined;
  readonly clock: Clock;
}

export function openTrust(request: TrustRequest): Trust {
  const { stateDirectory, lock, clock } = request;
  const guardedRoots = listGuardedRoots(request);
  const recordFile = stateDirectory === null ? null : path.join(stateDirectory, 'trust.json');
  const currentRecord = followRecord(recordFile, guardedRoots);
  const named = lock === undefined ? null : readLock(lock);
  return {
    checker: createFollowingChecker(currentRecord, (record) =>
      createTrustChecker({ record, lock: named, clock }),
    ),
    recordFile,
    get record() {
      return currentRecord();
    },
    guardedRoots,
    notices: noticesOf(currentRecord()),
  };
}

type OpenedRecord = TrustRecord | HooklineError;

/** The record as it is at each call: what another process takes back must not run once more. */
function followRecord(
  file: string | null,
  guardedRoots: readonly string[],
): (wave?: number) => OpenedRecord {
  if (file === null) {
    const none = noHome();
    return () => none;
  }
  const hasChanged = createChangeCheck(file);
  let record = tryReadTrustRecord(file, guardedRoots);
  return memoizePerWave(() => {
    if (hasChanged()) record = believable(record, tryReadTrustRecord(file, guardedRoots));
    return record;
  });
}

/** What something else than Hookline wrote is announced at the next start; until then it adds nothing. */
function believable(before: OpenedRecord, now: OpenedRecord): OpenedRecord {
  if (isHooklineError(now) || !now.changedOutside) return now;
  const known = isHooklineError(before) ? [] : before.entries;
  const entries = now.entries.filter((entry) => known.some((it) => isDeepStrictEqual(it, entry)));
  return { ...now, entries };
}

/** A checker remembers its answers, so another record needs another checker. */
function createFollowingChecker(
  currentRecord: (wave?: number) => OpenedRecord,
  create: (record: OpenedRecord) => TrustChecker,
): TrustChecker {
  let record = currentRecord();
  let checker = create(record);
  return {
    check(unit, wave) {
      const now = currentRecord(wave);
      if (now !== record) checker = create(now);
      record = now;
      return checker.check(unit, wave);
    },
  };
}

/** Tells whether the file is another than at the call before; costs one look at its state. */
export function createChangeCheck(file: string): () => boolean {
  let seen = stateOf(file);
  return () => {
    const now = stateOf(file);
    const hasChanged = !isSameFile(seen, now);
    seen = now;
    return hasChanged;
  };
}

function isSameFile(one: FileState, other: FileState): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return isSameState(one, other);
}

/** What is known of a file, or why nothing is. */
type FileState = BigIntStats | string;

function stateOf(file: string): FileState {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false }) ?? 'absent';
  } catch (error) {
    return getErrorMessage(error);
  }
}

/**
 * Workspaces that must not hold the record. A directory that holds the whole home is the person's own,
 * unless it is a repository: that could bring a record with it.
 */
export function listGuardedRoots({
  workspaceRoots,
  home,
}: Pick<TrustRequest, 'workspaceRoots' | 'home'>): readonly string[] {
  if (home === null) return workspaceRoots;
  const real = findRealPath(home) ?? home;
  return workspaceRoots.filter((root) => !isInside(root, real) || isRepository(root));
}

function isRepository(root: string): boolean {
  return existsSync(path.join(root, '.git'));
}

function noHome(): HooklineError {
  return new HooklineError('TRUST_RECORD_INVALID', {
    message: 'there is no home directory, so there is no place for a trust record',
    hint: 'Set HOME or HOOKLINE_HOME, or name a lock with --lock.',
  });
}

function readLock({ file, sha256 }: NamedLock): Lock {
  const bytes = readLockBytes(file);
  if (sha256 !== undefined) verifyLockSha256(bytes, sha256);
  return parseLock(bytes.toString('utf8'), file);
}

function readLockBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new HooklineError('LOCK_INVALID', {
      message: `the lock ${file} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Write one with `hookline lock`, and name it with --lock FILE.',
      cause: error,
    });
  }
}

function noticesOf(record: TrustRecord | HooklineError): string[] {
  if (isHooklineError(record)) return [record.message];
  return record.changedOutside
    ? [
        'the trust record was changed by something else than hookline; look at it with `hookline trust`',
      ]
    : [];
}
