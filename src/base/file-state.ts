import { type BigIntStats, statSync } from 'node:fs';
import { getErrorMessage } from './errors.ts';

/** Checks whether the file has changed since the previous call, with one stat. */
export function createChangeCheck(file: string): () => boolean {
  let previous = readFileState(file);
  return () => {
    const current = readFileState(file);
    const hasChanged = !isSameFile(previous, current);
    previous = current;
    return hasChanged;
  };
}

function isSameFile(one: FileState, other: FileState): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return isSameState(one, other);
}

/** The stat of a file, or the error. */
type FileState = BigIntStats | string;

function readFileState(file: string): FileState {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false }) ?? 'absent';
  } catch (error) {
    return getErrorMessage(error);
  }
}

/** Compares what a change of a file also changes; null is a missing file. */
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
