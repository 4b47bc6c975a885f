import { createHash } from 'node:crypto';
import { findRealPath } from '../../../base/paths.ts';

/** What an agent knows of files, so that it changes nothing unseen. */
export interface ReadTracker {
  /** The agent has seen, or made, these bytes. */
  markRead(file: string, bytes: Uint8Array): void;
  /** How what it knows of a file stands to what the file holds now. */
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

// Times tell little: two changes may fall into one tick, and copying tools set them back.
function computeHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
