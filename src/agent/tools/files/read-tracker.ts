import { createHash } from 'node:crypto';
import { findRealPath } from '../../../base/paths.ts';

/** Records which contents an agent has read, so that it cannot overwrite anything unread. */
export interface ReadTracker {
  /** Marks these bytes as read or written by the agent. */
  markRead(file: string, bytes: Uint8Array): void;
  /** Compares the recorded content with the current one. */
  compare(file: string, bytes: Uint8Array): 'unread' | 'changed' | 'same';
}

export function createReadTracker(): ReadTracker {
  const known = new Map<string, string>();
  return {
    markRead(file, bytes) {
      known.set(resolveRealPath(file), computeHash(bytes));
    },
    compare(file, bytes) {
      const hash = known.get(resolveRealPath(file));
      if (hash === undefined) return 'unread';
      return hash === computeHash(bytes) ? 'same' : 'changed';
    },
  };
}

function resolveRealPath(file: string): string {
  return findRealPath(file) ?? file;
}

// A hash, because modification times are too coarse and copying tools reset them.
function computeHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
