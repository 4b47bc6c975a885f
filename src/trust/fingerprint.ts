import { lstatSync, realpathSync } from 'node:fs';
import { errnoOf } from '../base/errors.ts';

/**
 * How a path looked just before its content was read.
 * `state` watches the file or directory itself, `target` where its links lead.
 */
export interface Probe {
  readonly path: string;
  readonly kind: 'state' | 'target';
  readonly seen: string;
  readonly changedMs: number;
  readonly isLink: boolean;
}

export type Fingerprint = readonly Probe[];

const SETTLED_AFTER_MS = 2_000;

/** Must be called before the content is read, or a change in between would go unnoticed. */
export function probe(path: string, kind: Probe['kind']): Probe {
  if (kind === 'state') return { path, kind, ...stateOf(path) };
  return { path, kind, seen: targetOf(path), changedMs: 0, isLink: false };
}

function targetOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    return `!${errnoOf(error)}`;
  }
}

function stateOf(path: string): Pick<Probe, 'seen' | 'changedMs' | 'isLink'> {
  try {
    const stats = lstatSync(path, { bigint: true });
    const { dev, ino, size, mtimeNs, ctimeNs, mode } = stats;
    const seen = [dev, ino, size, mtimeNs, ctimeNs, mode].join(' ');
    return { seen, changedMs: Number(ctimeNs / 1_000_000n), isLink: stats.isSymbolicLink() };
  } catch (error) {
    return { seen: `!${errnoOf(error)}`, changedMs: 0, isLink: false };
  }
}

/**
 * The probes that are worth repeating. A path without links leads to itself, and should any part
 * of it become one, the state found at its end is another: there the state tells both.
 */
export function withoutRepetition(fingerprint: Fingerprint): Fingerprint {
  const plain = new Set(
    fingerprint.flatMap(({ path, kind, isLink }) => (kind === 'state' && !isLink ? [path] : [])),
  );
  return fingerprint.filter(
    ({ path, kind, seen }) => kind === 'state' || seen !== path || !plain.has(path),
  );
}

export function isUnchanged(fingerprint: Fingerprint): boolean {
  return fingerprint.every(
    ({ path, kind, seen }) => (kind === 'state' ? stateOf(path).seen : targetOf(path)) === seen,
  );
}

/**
 * Whether a later change is sure to show in the timestamps. A file changed twice within one tick
 * of the file system's clock looks the same both times; a time in the future settles nothing.
 */
export function isSettled(fingerprint: Fingerprint, hashedAtMs: number): boolean {
  return fingerprint.every(({ changedMs }) => hashedAtMs - changedMs >= SETTLED_AFTER_MS);
}
