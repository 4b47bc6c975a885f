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
}

export type Fingerprint = readonly Probe[];

const SETTLED_AFTER_MS = 2_000;

/** Must be called before the content is read, or a change in between would go unnoticed. */
export function probe(path: string, kind: Probe['kind']): Probe {
  return kind === 'target' ? probeTarget(path) : probeState(path);
}

function probeTarget(path: string): Probe {
  return { path, kind: 'target', seen: targetOf(path), changedMs: 0 };
}

function targetOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    return `!${errnoOf(error)}`;
  }
}

function probeState(path: string): Probe {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, mode } = lstatSync(path, { bigint: true });
    const seen = [dev, ino, size, mtimeNs, ctimeNs, mode].join(' ');
    return { path, kind: 'state', seen, changedMs: Number(ctimeNs / 1_000_000n) };
  } catch (error) {
    return { path, kind: 'state', seen: `!${errnoOf(error)}`, changedMs: 0 };
  }
}

export function isUnchanged(fingerprint: Fingerprint): boolean {
  return fingerprint.every(({ path, kind, seen }) => probe(path, kind).seen === seen);
}

/**
 * Whether a later change is sure to show in the timestamps. A file changed twice within one tick
 * of the file system's clock looks the same both times; a time in the future settles nothing.
 */
export function isSettled(fingerprint: Fingerprint, hashedAtMs: number): boolean {
  return fingerprint.every(({ changedMs }) => hashedAtMs - changedMs >= SETTLED_AFTER_MS);
}
