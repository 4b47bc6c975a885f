import { type BigIntStats, lstatSync } from 'node:fs';
import { getErrorCode } from '../base/errors.ts';
import { isSameState } from '../base/file-state.ts';
import { resolveRealPath } from '../base/paths.ts';

/** The state of a path just before its content was read. */
export type Probe = StateProbe | TargetProbe;

/** The stat of a file or directory. */
export interface StateProbe {
  readonly kind: 'state';
  readonly path: string;
  readonly value: BigIntStats | null;
}

/** The real path behind the links of a path. */
interface TargetProbe {
  readonly kind: 'target';
  readonly path: string;
  readonly value: string;
}

export type Fingerprint = readonly Probe[];

const SETTLED_AFTER_MS = 2_000n;

/** Must be called before the content is read, or a change in between would be missed. */
export function probePath(path: string, kind: Probe['kind']): Probe {
  return kind === 'state' ? probePathState(path) : { kind, path, value: readTarget(path) };
}

/** Like `probePath` for `state`, with the precise type. */
export function probePathState(path: string): StateProbe {
  return { kind: 'state', path, value: readState(path) };
}

function readTarget(path: string): string {
  try {
    return resolveRealPath(path);
  } catch (error) {
    return `!${getErrorCode(error)}`;
  }
}

/** Null when the path does not exist or is not accessible. */
function readState(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}

/**
 * Drops target probes that a state probe covers: when a part of a path without links becomes a link,
 * the stat of the path changes as well.
 */
export function dropRedundantProbes(fingerprint: Fingerprint): Fingerprint {
  const plain = new Set(fingerprint.filter(isStateOfNonLink).map(({ path }) => path));
  return fingerprint.filter(
    ({ kind, path, value }) => kind === 'state' || value !== path || !plain.has(path),
  );
}

function isStateOfNonLink({ kind, value }: Probe): boolean {
  return kind === 'state' && value !== null && !value.isSymbolicLink();
}

/** States of paths at one moment, each read on first use. */
export interface PathStates {
  readState(path: string): BigIntStats | null;
  readTarget(path: string): string;
}

export function createPathStates(): PathStates {
  const states = new Map<string, BigIntStats | null>();
  const targets = new Map<string, string>();
  return {
    readState: (path) => getOrRead(states, path, readState),
    readTarget: (path) => getOrRead(targets, path, readTarget),
  };
}

function getOrRead<State>(
  cache: Map<string, State>,
  path: string,
  read: (path: string) => State,
): State {
  const cached = cache.get(path);
  if (cached !== undefined) return cached;
  const state = read(path);
  cache.set(path, state);
  return state;
}

export function isUnchanged(
  fingerprint: Fingerprint,
  states: PathStates = { readState, readTarget },
): boolean {
  return fingerprint.every((probe) =>
    probe.kind === 'state'
      ? isSameState(probe.value, states.readState(probe.path))
      : probe.value === states.readTarget(probe.path),
  );
}

/**
 * Whether a later change is sure to show in the timestamps. A file changed twice within one tick
 * of the file system's clock looks the same both times; a time in the future settles nothing.
 */
export function isSettled(fingerprint: Fingerprint, hashedAtMs: number): boolean {
  const latest = BigInt(Math.trunc(hashedAtMs)) - SETTLED_AFTER_MS;
  return fingerprint.every(
    ({ kind, value }) => kind === 'target' || value === null || value.ctimeMs <= latest,
  );
}
