import { type BigIntStats, lstatSync } from 'node:fs';
import { getErrorCode } from '../base/errors.ts';
import { resolveRealPath } from '../base/paths.ts';

/** How a path looked just before its content was read. */
export type Probe = StateProbe | TargetProbe;

/** Watches the file or directory itself. */
export interface StateProbe {
  readonly kind: 'state';
  readonly path: string;
  readonly seen: BigIntStats | null;
}

/** Watches where a path's links lead. */
interface TargetProbe {
  readonly kind: 'target';
  readonly path: string;
  readonly seen: string;
}

export type Fingerprint = readonly Probe[];

const SETTLED_AFTER_MS = 2_000n;

/** Must be called before the content is read, or a change in between would go unnoticed. */
export function probePath(path: string, kind: Probe['kind']): Probe {
  return kind === 'state' ? probePathState(path) : { kind, path, seen: targetOf(path) };
}

/** As `probe`, for who wants to see the state. */
export function probePathState(path: string): StateProbe {
  return { kind: 'state', path, seen: stateOf(path) };
}

function targetOf(path: string): string {
  try {
    return resolveRealPath(path);
  } catch (error) {
    return `!${getErrorCode(error)}`;
  }
}

/** Null when there is nothing, or nothing that can be looked at. */
function stateOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}

/**
 * The probes that are worth repeating. A path without links leads to itself, and should any part
 * of it become one, the state found at its end is another: there the state tells both.
 */
export function dropRedundantProbes(fingerprint: Fingerprint): Fingerprint {
  const plain = new Set(fingerprint.filter(isOfNoLink).map(({ path }) => path));
  return fingerprint.filter(
    ({ kind, path, seen }) => kind === 'state' || seen !== path || !plain.has(path),
  );
}

function isOfNoLink({ kind, seen }: Probe): boolean {
  return kind === 'state' && seen !== null && !seen.isSymbolicLink();
}

/** How paths look at one moment; each is looked at when it is first asked for. */
export interface PathStates {
  stateOf(path: string): BigIntStats | null;
  targetOf(path: string): string;
}

export function createPathStates(): PathStates {
  const states = new Map<string, BigIntStats | null>();
  const targets = new Map<string, string>();
  return {
    stateOf: (path) => seenOnce(states, path, stateOf),
    targetOf: (path) => seenOnce(targets, path, targetOf),
  };
}

function seenOnce<Seen>(seen: Map<string, Seen>, path: string, look: (path: string) => Seen): Seen {
  const known = seen.get(path);
  if (known !== undefined) return known;
  const found = look(path);
  seen.set(path, found);
  return found;
}

export function isUnchanged(
  fingerprint: Fingerprint,
  look: PathStates = { stateOf, targetOf },
): boolean {
  return fingerprint.every((known) =>
    known.kind === 'state'
      ? isSameState(known.seen, look.stateOf(known.path))
      : known.seen === look.targetOf(known.path),
  );
}

export function isSameState(one: BigIntStats | null, other: BigIntStats | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs &&
    one.mode === other.mode
  );
}

/**
 * Whether a later change is sure to show in the timestamps. A file changed twice within one tick
 * of the file system's clock looks the same both times; a time in the future settles nothing.
 */
export function isSettled(fingerprint: Fingerprint, hashedAtMs: number): boolean {
  const latest = BigInt(Math.trunc(hashedAtMs)) - SETTLED_AFTER_MS;
  return fingerprint.every(
    ({ kind, seen }) => kind === 'target' || seen === null || seen.ctimeMs <= latest,
  );
}
