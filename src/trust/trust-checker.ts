import { type Clock, systemClock } from '../base/clock.ts';
import { type HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { memoizePerWave } from '../base/memoize.ts';
import { type Binding, bindCollection, createFileHasher, type HashFile } from './bind-unit.ts';
import { type Collection, collectUnit, type TrustUnit } from './collect-unit.ts';
import { type BoundEntry, compareFileMaps, ENTRY_TEXT_KEY, isCoveredBy } from './file-map.ts';
import {
  type Fingerprint,
  isSettled,
  isUnchanged,
  createPathStates,
  dropRedundantProbes,
} from './fingerprint.ts';
import { findLockedEntry, type Lock } from './lock.ts';
import type { TrustRecord } from './trust-record.ts';

export interface TrustState {
  readonly state: 'trusted' | 'untrusted' | 'modified';
  readonly why: string;
  /** What makes the unit trusted; null unless it is. */
  readonly by: 'record' | 'lock' | null;
  /** Paths that were added, removed or changed since; only when modified. */
  readonly changed?: readonly string[];
}

export interface TrustSources {
  /**
   * Returns the record, or the error of `tryReadTrustRecord`: then nothing is trusted, for its reason.
   * Must return the same object until the record has changed.
   */
  readonly readRecord: (wave?: number) => TrustRecord | HooklineError;
  /** Only a lock that the caller named, never one that was found in the workspace. */
  readonly lock: Lock | null;
  readonly clock?: Clock;
}

interface CheckedUnit {
  readonly fingerprint: Fingerprint;
  readonly state: TrustState;
  readonly collection: Collection;
}

/** Caches the state of each unit object: as long as nothing changes, a check costs a few stat calls. */
export class TrustChecker {
  readonly #sources: TrustSources;
  readonly #clock: Clock;
  readonly #getPathStates = memoizePerWave(createPathStates);
  #record: TrustRecord | HooklineError;
  #hash: HashFile;
  #cache = new WeakMap<TrustUnit, CheckedUnit>();

  constructor(sources: TrustSources) {
    this.#sources = sources;
    this.#clock = sources.clock ?? systemClock;
    this.#record = sources.readRecord();
    this.#hash = createFileHasher(this.#clock);
  }

  /**
   * Must never throw, and never trusts what it could not read completely. In one wave each path is read
   * once, however many units share it.
   */
  check(unit: TrustUnit, wave?: number): TrustState {
    this.#reload(wave);
    const entry = this.#cache.get(unit);
    if (entry !== undefined && isUnchanged(entry.fingerprint, this.#getPathStates(wave))) {
      return entry.state;
    }
    this.#cache.delete(unit);
    const hashedAtMs = this.#clock.now();
    const bound = tryBind(unit, this.#hash);
    if (!bound.ok) return createUntrusted(bound.why);
    const { collection } = bound;
    const state = judgeBinding(bound.binding, this.#record, this.#sources.lock);
    if (isSettled(collection.probes, hashedAtMs)) {
      const fingerprint = dropRedundantProbes(collection.probes);
      this.#cache.set(unit, { fingerprint, state, collection });
    }
    return state;
  }

  /** The paths that a unit binds now; throws as `collectUnit` does. */
  collect(unit: TrustUnit): Collection {
    this.check(unit);
    return this.#cache.get(unit)?.collection ?? collectUnit(unit);
  }

  /** What is cached was found with the record as it was. */
  #reload(wave?: number): void {
    const current = this.#sources.readRecord(wave);
    if (current === this.#record) return;
    this.#record = current;
    this.#hash = createFileHasher(this.#clock);
    this.#cache = new WeakMap();
  }
}

type BindResult =
  | { readonly ok: true; readonly binding: Binding; readonly collection: Collection }
  | { readonly ok: false; readonly why: string };

function tryBind(unit: TrustUnit, hash: HashFile): BindResult {
  try {
    const collection = collectUnit(unit);
    return { ok: true, binding: bindCollection(hash, unit, collection), collection };
  } catch (error) {
    return { ok: false, why: getErrorMessage(error) };
  }
}

function judgeBinding(
  binding: Binding,
  record: TrustRecord | HooklineError,
  lock: Lock | null,
): TrustState {
  const recorded = findRecordedEntries(binding, record);
  const locked = lock === null ? [] : lock.hooks.filter(({ id }) => id === binding.id);
  if (recorded.some((entry) => isSameBinding(entry, binding))) {
    return { state: 'trusted', why: 'its exact bytes were trusted', by: 'record' };
  }
  if (lock !== null && findLockedEntry(lock, binding) !== null) {
    return { state: 'trusted', why: 'its exact bytes are in the lock', by: 'lock' };
  }
  const [closest] = [...recorded, ...locked];
  if (closest !== undefined) return createModified(closest, binding);
  return createUntrusted(explainUntrusted(binding, record));
}

function explainUntrusted({ root, id }: Binding, record: TrustRecord | HooklineError): string {
  if (isHooklineError(record)) return record.message;
  const before = record.unconfirmed.find((entry) => entry.root === root && entry.id === id);
  if (before === undefined) return 'it was never trusted here';
  return `it was trusted at ${before.trustedAt} in a record without a valid seal: confirm it again`;
}

function findRecordedEntries(
  binding: Binding,
  record: TrustRecord | HooklineError,
): readonly BoundEntry[] {
  if (isHooklineError(record)) return [];
  return record.entries.filter(({ root, id }) => root === binding.root && id === binding.id);
}

function isSameBinding(trusted: BoundEntry, { entry, digest, files }: Binding): boolean {
  if (trusted.entry !== entry) return false;
  return trusted.digest === digest || isCoveredBy(trusted.files, files);
}

function createModified(entry: BoundEntry, binding: Binding): TrustState {
  const changed = compareFileMaps(entry.files, binding.files).map(({ path }) => path);
  const why =
    changed.length === 0
      ? 'another file than the trusted one is now its entry'
      : `${formatFiles(changed)} changed since it was trusted`;
  return { state: 'modified', why, by: null, changed };
}

const MAX_NAMED_FILES = 3;

function formatFiles(files: readonly string[]): string {
  const names = files
    .slice(0, MAX_NAMED_FILES)
    .map((file) => (file === ENTRY_TEXT_KEY ? 'its entry' : file));
  const rest = files.length - names.length;
  return rest === 0 ? names.join(', ') : `${names.join(', ')} and ${rest} more`;
}

function createUntrusted(why: string): TrustState {
  return { state: 'untrusted', why, by: null };
}
