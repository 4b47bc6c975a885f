import { HooklineError } from '../base/errors.ts';
import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import { type Binding, bindUnit } from './bind-unit.ts';
import type { TrustUnit } from './collect-unit.ts';
import {
  type BoundEntry,
  compareFileMaps,
  compareText,
  isSha256,
  parseBoundEntry,
  computeSha256,
} from './file-map.ts';

/** A list of hooks with their exact bytes; it says nothing of where the checkout lies. */
export interface Lock {
  readonly version: 1;
  /** `entry` is relative to the workspace root, as discovered. */
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

/** Throws a HooklineError when a unit cannot be bound: a lock never covers half a hook. */
export function createLock(units: readonly TrustUnit[]): Lock {
  return { version: 1, hooks: units.map(bindUnit).map(lockedHook).toSorted(byIdAndEntry) };
}

function lockedHook({ id, name, digest, files }: Binding): BoundEntry {
  return { id, entry: name, digest, files };
}

function byIdAndEntry(a: BoundEntry, b: BoundEntry): number {
  return compareText(a.id, b.id) || compareText(a.entry, b.entry);
}

export function formatLock(lock: Lock): string {
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** `source` is how an error names the file. */
export function parseLock(text: string, source: string): Lock {
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalidLock(source, `it is not JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) {
    throw invalidLock(source, `it must be an object, found ${getTypeName(parsed.value)}`);
  }
  const { version, hooks } = parsed.value;
  if (version !== 1) throw invalidLock(source, `version must be 1, found ${getTypeName(version)}`);
  if (!Array.isArray(hooks)) {
    throw invalidLock(source, `hooks must be an array, found ${getTypeName(hooks)}`);
  }
  return { version, hooks: hooks.map((hook, index) => lockEntry(hook, { index, source })) };
}

function lockEntry(value: unknown, place: { index: number; source: string }): BoundEntry {
  const parsed = parseBoundEntry(value, `hooks[${place.index}]`);
  if (!parsed.ok) throw invalidLock(place.source, parsed.problem);
  return parsed.entry;
}

function invalidLock(source: string, problem: string): HooklineError {
  return new HooklineError('LOCK_INVALID', {
    message: `${source} cannot be read as a lock: ${problem}`,
    hint: 'Write it anew with `hookline lock`, and do not edit it by hand.',
  });
}

export function checkLock(lock: Lock, units: readonly TrustUnit[]): LockDifferences {
  const found = createLock(units).hooks;
  const lockedAt = (hook: BoundEntry): readonly BoundEntry[] =>
    lock.hooks.filter((locked) => placeOf(locked) === placeOf(hook));
  const places = new Set(found.map(placeOf));
  return {
    added: found.filter((hook) => lockedAt(hook).length === 0).map(wholeHook),
    removed: lock.hooks.filter((hook) => !places.has(placeOf(hook))).map(wholeHook),
    changed: found.flatMap((hook) => changesOf(hook, lockedAt(hook))),
  };
}

function placeOf({ id, entry }: BoundEntry): string {
  return JSON.stringify([id, entry]);
}

function wholeHook({ id, entry, files }: BoundEntry): LockDifference {
  return { id, entry, paths: Object.keys(files) };
}

/** Several roots may hold a hook of the same id and place, so one of the locked must fit. */
function changesOf(hook: BoundEntry, locked: readonly BoundEntry[]): readonly LockDifference[] {
  const [before] = locked;
  if (before === undefined || locked.some(({ digest }) => digest === hook.digest)) return [];
  const paths = compareFileMaps(before.files, hook.files).map(({ path }) => path);
  return [{ id: hook.id, entry: hook.entry, paths }];
}

/** Throws LOCK_INVALID unless the bytes are those that the caller named. */
export function verifyLockSha256(bytes: Uint8Array, expected: string): void {
  const wanted = expected.trim().toLowerCase();
  if (!isSha256(wanted)) {
    throw new HooklineError('LOCK_INVALID', {
      message: `the SHA-256 of a lock must be 64 hexadecimal digits, found ${JSON.stringify(expected)}`,
      hint: 'Print it with `sha256sum FILE`.',
    });
  }
  const found = computeSha256(bytes);
  if (found === wanted) return;
  throw new HooklineError('LOCK_INVALID', {
    message: `the lock must have the SHA-256 ${wanted}, found ${found}`,
    hint: 'This is not the lock that was named: compare it with the one you trust.',
  });
}
