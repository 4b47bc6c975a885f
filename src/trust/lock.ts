import { HooklineError } from '../base/errors.ts';
import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import { type Binding, bindUnit } from './bind-unit.ts';
import type { TrustUnit } from './collect-unit.ts';
import {
  type BoundEntry,
  compareFileMaps,
  compareText,
  isSha256,
  isCoveredBy,
  parseBoundEntry,
  computeDigest,
  computeSha256,
  toFirstVersion,
} from './file-map.ts';

/** A list of hooks with their exact bytes, independent of the path of the checkout. */
export interface Lock {
  /** Version 1 has no modes, and only the files that entries and `#!` lines name; it counts as it did. */
  readonly version: 1 | 2;
  /** `entry` is relative to the workspace root, as found by discovery. */
  readonly hooks: readonly BoundEntry[];
}

export interface LockDifference {
  readonly id: string;
  readonly entry: string;
  /** The files that were added, removed or changed. */
  readonly paths: readonly string[];
}

export interface LockDifferences {
  readonly added: readonly LockDifference[];
  readonly removed: readonly LockDifference[];
  readonly changed: readonly LockDifference[];
}

/** Throws a HooklineError when a unit cannot be bound: a lock never covers a part of a hook. */
export function createLock(units: readonly TrustUnit[], version: Lock['version'] = 2): Lock {
  const hooks = units.map((unit) => toLockEntry(bindUnit(unit), version));
  return { version, hooks: hooks.toSorted(compareEntries) };
}

function toLockEntry(binding: Binding, version: Lock['version']): BoundEntry {
  const { id, name: entry, digest, files } = binding;
  if (version === 2) return { id, entry, digest, files };
  const first = toFirstVersion(files, binding.followed);
  return { id, entry, digest: computeDigest(first), files: first };
}

/** The entry of the lock that covers exactly what is bound now, or null. */
export function findLockedEntry(lock: Lock, binding: Binding): BoundEntry | null {
  const candidates = lock.hooks.filter(({ id }) => id === binding.id);
  if (candidates.length === 0) return null;
  const now = toLockEntry(binding, lock.version);
  return candidates.find((locked) => locked.entry === now.entry && isSame(locked, now)) ?? null;
}

function isSame(locked: BoundEntry, now: BoundEntry): boolean {
  return locked.digest === now.digest || isCoveredBy(locked.files, now.files);
}

function compareEntries(a: BoundEntry, b: BoundEntry): number {
  return compareText(a.id, b.id) || compareText(a.entry, b.entry);
}

export function formatLock(lock: Lock): string {
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** `source` is how an error names the file. */
export function parseLock(text: string, source: string): Lock {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    throw createInvalidLockError(source, `it is not JSON: ${parsed.error}`);
  }
  if (!isRecord(parsed.value)) {
    throw createInvalidLockError(
      source,
      `it must be an object, found ${getTypeName(parsed.value)}`,
    );
  }
  const { version, hooks } = parsed.value;
  if (version !== 1 && version !== 2) {
    const found = typeof version === 'number' ? String(version) : getTypeName(version);
    throw createInvalidLockError(source, `version must be 1 or 2, found ${found}`);
  }
  if (!Array.isArray(hooks)) {
    throw createInvalidLockError(source, `hooks must be an array, found ${getTypeName(hooks)}`);
  }
  return { version, hooks: hooks.map((hook, index) => parseLockEntry(hook, index, source)) };
}

function parseLockEntry(value: unknown, index: number, source: string): BoundEntry {
  const parsed = parseBoundEntry(value, `hooks[${index}]`);
  if (!parsed.ok) throw createInvalidLockError(source, parsed.problem);
  return parsed.entry;
}

function createInvalidLockError(source: string, problem: string): HooklineError {
  return new HooklineError('LOCK_INVALID', {
    message: `${source} is not a valid lock: ${problem}`,
    hint: 'Write it again with `hookline lock`, and do not edit it by hand.',
  });
}

export function checkLock(lock: Lock, units: readonly TrustUnit[]): LockDifferences {
  const found = createLock(units, lock.version).hooks;
  const findLocked = (hook: BoundEntry): readonly BoundEntry[] =>
    lock.hooks.filter((locked) => formatEntryKey(locked) === formatEntryKey(hook));
  const foundKeys = new Set(found.map(formatEntryKey));
  return {
    added: found.filter((hook) => findLocked(hook).length === 0).map(toWholeDifference),
    removed: lock.hooks
      .filter((hook) => !foundKeys.has(formatEntryKey(hook)))
      .map(toWholeDifference),
    changed: found.flatMap((hook) => findChanges(hook, findLocked(hook))),
  };
}

function formatEntryKey({ id, entry }: BoundEntry): string {
  return JSON.stringify([id, entry]);
}

function toWholeDifference({ id, entry, files }: BoundEntry): LockDifference {
  return { id, entry, paths: Object.keys(files) };
}

/** Several roots may have a hook with the same id and entry, so one of the locked ones must match. */
function findChanges(hook: BoundEntry, locked: readonly BoundEntry[]): readonly LockDifference[] {
  const [before] = locked;
  if (before === undefined || locked.some((each) => isSame(each, hook))) return [];
  const paths = compareFileMaps(before.files, hook.files).map(({ path }) => path);
  return [{ id: hook.id, entry: hook.entry, paths }];
}

/** Throws LOCK_INVALID unless the bytes have the expected hash. */
export function verifyLockSha256(bytes: Uint8Array, expected: string): void {
  const expectedHash = expected.trim().toLowerCase();
  if (!isSha256(expectedHash)) {
    throw new HooklineError('LOCK_INVALID', {
      message: `the SHA-256 of a lock must be 64 hexadecimal digits, found ${JSON.stringify(expected)}`,
      hint: 'Print it with `sha256sum FILE`.',
    });
  }
  const found = computeSha256(bytes);
  if (found === expectedHash) return;
  throw new HooklineError('LOCK_INVALID', {
    message: `the lock must have the SHA-256 ${expectedHash}, found ${found}`,
    hint: 'This is not the expected lock: compare it with the one you trust.',
  });
}
