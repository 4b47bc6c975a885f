import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../base/clock.ts';
import { createChangeCheck } from '../base/file-state.ts';
import { HooklineError, isHooklineError } from '../base/errors.ts';
import { explainFileError } from '../base/files.ts';
import { memoizePerWave } from '../base/memoize.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import { TrustChecker } from '../trust/trust-checker.ts';
import { type Lock, parseLock, verifyLockSha256 } from '../trust/lock.ts';
import type { TrustFiles } from '../trust/record-seal.ts';
import { tryReadTrustRecord, type TrustRecord } from '../trust/trust-record.ts';

/** A lock that the caller trusts, if its bytes have the given hash. */
export interface NamedLock {
  readonly file: string;
  readonly sha256?: string;
}

export interface Trust {
  readonly checker: TrustChecker;
  /** The trust record and its key; null without a home directory. */
  readonly files: TrustFiles | null;
  /** The current record, or why it is ignored. */
  readonly record: TrustRecord | HooklineError;
  /** Workspaces that must not contain the record. */
  readonly guardedRoots: readonly string[];
  /** Messages for the user about the record itself. */
  readonly notices: readonly string[];
}

export interface TrustRequest {
  readonly stateDirectory: string | null;
  readonly keyFile: string | null;
  readonly workspaceRoots: readonly string[];
  readonly home: string | null;
  readonly lock: NamedLock | undefined;
  readonly clock: Clock;
}

export function openTrust(request: TrustRequest): Trust {
  const { lock, clock } = request;
  const guardedRoots = listGuardedRoots(request);
  const files = locateTrustFiles(request);
  const readRecord = createRecordReader(files, guardedRoots);
  const trustedLock = lock === undefined ? null : readLock(lock);
  return {
    checker: new TrustChecker({ readRecord, lock: trustedLock, clock }),
    files,
    get record() {
      return readRecord();
    },
    guardedRoots,
    notices: createNotices(files, readRecord()),
  };
}

function locateTrustFiles({ stateDirectory, keyFile: key }: TrustRequest): TrustFiles | null {
  if (stateDirectory === null || key === null) return null;
  return { record: path.join(stateDirectory, 'trust.json'), key };
}

type OpenedRecord = TrustRecord | HooklineError;

/** Reads the record again when it has changed, so that a revocation by another process applies at once. */
function createRecordReader(
  files: TrustFiles | null,
  guardedRoots: readonly string[],
): (wave?: number) => OpenedRecord {
  if (files === null) {
    const none = createNoHomeError();
    return () => none;
  }
  const hasChanged = createChangeCheck(files.record);
  let record = tryReadTrustRecord(files, guardedRoots);
  return memoizePerWave(() => {
    if (hasChanged()) record = tryReadTrustRecord(files, guardedRoots);
    return record;
  });
}

/**
 * Workspaces that must not contain the record. A directory above the home directory is the user's own,
 * unless it is a repository, which could contain a record.
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

function createNoHomeError(): HooklineError {
  return new HooklineError('TRUST_RECORD_INVALID', {
    message: 'no home directory, so there is no trust record',
    hint: 'Set HOME or HOOKLINE_HOME, or use a lock with --lock.',
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
      message: `the lock ${file} cannot be read: ${explainFileError(error)}`,
      hint: 'Write one with `hookline lock`, and pass it with --lock FILE.',
      cause: error,
    });
  }
}

function createNotices(files: TrustFiles | null, record: OpenedRecord): string[] {
  if (isHooklineError(record)) return [record.message];
  if (record.sealProblem === null) return [];
  return [
    `the trust record ${files?.record} counts as empty: ${record.sealProblem}. Run \`hookline trust\` to see what it held, and confirm it again`,
  ];
}
