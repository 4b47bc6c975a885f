import { readlinkSync, statSync, utimesSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { memoize } from '../base/memoize.ts';
import { isProcessAlive, type ProcessIdentity, readProcess } from './process-table.ts';

/**
 * The process that a file is about, such as a lock. The directory may be shared with processes in
 * other process namespaces, as of containers, in which its id means another process or none.
 */
export interface FileOwner extends ProcessIdentity {
  /** The number of its process namespace; empty where there are none. */
  readonly namespace: string;
}

export const identifyOwner = memoize((): FileOwner => {
  // As /proc shows it, which may be of a namespace around this one.
  const { pid, startedAt } = readProcess('self') ?? { pid: process.pid, startedAt: '' };
  return { pid, startedAt, namespace: readNamespace() };
});

function readNamespace(): string {
  try {
    const [, number = ''] = /^pid:\[(\d+)\]$/u.exec(readlinkSync('/proc/self/ns/pid')) ?? [];
    return number;
  } catch {
    // Not Linux.
    return '';
  }
}

/** The owner as a part of a file's name. */
export function formatOwner({ pid, startedAt, namespace }: FileOwner): string {
  return namespace === '' ? `${pid}-${startedAt}` : `${pid}-${startedAt}-n${namespace}`;
}

const OWNER = /^(\d+)-(\d*)(?:-n(\d+))?$/u;

export function parseOwner(text: string): FileOwner | null {
  const [, pid, startedAt = '', namespace = ''] = OWNER.exec(text) ?? [];
  return pid === undefined ? null : { pid: Number(pid), startedAt, namespace };
}

export function isSameOwner(one: FileOwner, other: FileOwner): boolean {
  return formatOwner(one) === formatOwner(other);
}

const RENEWAL_MS = 60_000;
/** Long enough for a process that is suspended for a while. */
const STALE_MS = 15 * 60_000;

/**
 * Whether the owner still runs. One in another process namespace cannot be looked up: it counts as alive
 * as long as it renews its file.
 */
export function isOwnerAlive(owner: FileOwner, file: string): boolean {
  const { namespace } = identifyOwner();
  if (owner.namespace === '' || owner.namespace === namespace) return isProcessAlive(owner);
  return isFileRecent(file, STALE_MS);
}

/** Whether a file was written or renewed less than this long ago. */
export function isFileRecent(file: string, ms: number): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && systemClock.now() - stats.mtimeMs < ms;
}

/** Renews a file of this process until the returned function is called. Does not keep the process alive. */
export function refreshFile(file: string): () => void {
  const timer = setInterval(() => touch(file), RENEWAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function touch(file: string): boolean {
  try {
    const now = systemClock.now() / 1000;
    utimesSync(file, now, now);
    return true;
  } catch {
    // Somebody removed it; then nobody looks at its time.
    return false;
  }
}
