import { type Clock, systemClock } from '../base/clock.ts';
import { type HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { memoizePerWave } from '../base/memoize.ts';
import { type Binding, bindUnitWith, createFileHasher, type HashFile } from './bind-unit.ts';
import type { TrustUnit } from './collect-unit.ts';
import { type BoundEntry, compareFileMaps, ENTRY_TEXT_KEY } from './file-map.ts';
import {
  type Fingerprint,
  isSettled,
  isUnchanged,
  createPathStates,
  dropRedundantProbes,
} from './fingerprint.ts';
import type { Lock } from './lock.ts';
import type { TrustRecord } from './trust-record.ts';

export interface TrustState {
  readonly state: 'trusted' | 'untrusted' | 'modified';
  readonly why: string;
  /** What vouches for the unit; null unless it is trusted. */
  readonly by: 'record' | 'lock' | null;
  /** Paths that were added, removed or changed since; only when modified. */
  readonly changed?: readonly string[];
}

export interface TrustSources {
  /** The error that `openTrustRecord` gave instead of a record trusts nothing, and says why. */
  readonly record: TrustRecord | HooklineError;
  /** Only a lock that the caller named; one that merely lies in the workspace never. */
  readonly lock: Lock | null;
  readonly clock?: Clock;
}

export interface TrustChecker {
  /**
   * Must never throw, and never trusts what it could not read to the end. In one wave each path is
   * looked at once, however many units lie beside each other.
   */
  check(unit: TrustUnit, wave?: number): TrustState;
}

interface Remembered {
  readonly fingerprint: Fingerprint;
  readonly state: TrustState;
}

/**
 * Remembers what it hashed, by the very object: as long as nothing changes, a check of the same
 * unit costs a few stat calls.
 */
export function createTrustChecker(sources: TrustSources): TrustChecker {
  const clock = sources.clock ?? systemClock;
  const hash = createFileHasher(clock);
  const remembered = new WeakMap<TrustUnit, Remembered>();
  const lookOf = memoizePerWave(createPathStates);

  function check(unit: TrustUnit, wave?: number): TrustState {
    const known = remembered.get(unit);
    if (known !== undefined && isUnchanged(known.fingerprint, lookOf(wave))) return known.state;
    remembered.delete(unit);
    const hashedAtMs = clock.now();
    const bound = tryBind(unit, hash);
    if (!bound.ok) return untrusted(bound.why);
    const { fingerprint } = bound.binding;
    const state = judge(bound.binding, sources);
    if (isSettled(fingerprint, hashedAtMs)) {
      remembered.set(unit, { fingerprint: dropRedundantProbes(fingerprint), state });
    }
    return state;
  }

  return { check };
}

type Bound =
  | { readonly ok: true; readonly binding: Binding }
  | { readonly ok: false; readonly why: string };

function tryBind(unit: TrustUnit, hash: HashFile): Bound {
  try {
    return { ok: true, binding: bindUnitWith(hash, unit) };
  } catch (error) {
    return { ok: false, why: getErrorMessage(error) };
  }
}

function judge(binding: Binding, { record, lock }: TrustSources): TrustState {
  const recorded = recordedEntries(binding, record);
  const locked = lock === null ? [] : lock.hooks.filter(({ id }) => id === binding.id);
  if (recorded.some((known) => fits(known, binding, binding.entry))) {
    return { state: 'trusted', why: 'its exact bytes were trusted', by: 'record' };
  }
  if (locked.some((known) => fits(known, binding, binding.name))) {
    return { state: 'trusted', why: 'its exact bytes are in the lock', by: 'lock' };
  }
  const [closest] = [...recorded, ...locked];
  if (closest !== undefined) return modified(closest, binding);
  return untrusted(isHooklineError(record) ? record.message : 'it was never trusted here');
}

function recordedEntries(
  binding: Binding,
  record: TrustRecord | HooklineError,
): readonly BoundEntry[] {
  if (isHooklineError(record)) return [];
  return record.entries.filter(({ root, id }) => root === binding.root && id === binding.id);
}

function fits(known: BoundEntry, binding: Binding, entry: string): boolean {
  return known.entry === entry && known.digest === binding.digest;
}

function modified(known: BoundEntry, binding: Binding): TrustState {
  const changed = compareFileMaps(known.files, binding.files).map(({ path }) => path);
  const why =
    changed.length === 0
      ? 'another file than the trusted one is now its entry'
      : `${namedFew(changed)} changed since it was trusted`;
  return { state: 'modified', why, by: null, changed };
}

const NAMED = 3;

function namedFew(files: readonly string[]): string {
  const names = files.slice(0, NAMED).map((file) => (file === ENTRY_TEXT_KEY ? 'its entry' : file));
  const rest = files.length - names.length;
  return rest === 0 ? names.join(', ') : `${names.join(', ')} and ${rest} more`;
}

function untrusted(why: string): TrustState {
  return { state: 'untrusted', why, by: null };
}
