import { createHash } from 'node:crypto';
import { findRealPath } from '../../../base/paths.ts';

/** What an agent knows of files, so that it changes nothing unseen. */
export interface FileMemory {
  /** The agent has seen, or made, these bytes. */
  remember(file: string, bytes: Uint8Array): void;
  /** How what it knows of a file stands to what the file holds now. */
  compare(file: string, bytes: Uint8Array): 'unread' | 'changed' | 'same';
}

export function createFileMemory(): FileMemory {
  const known = new Map<string, string>();
  return {
    remember(file, bytes) {
      known.set(realName(file), hashOf(bytes));
    },
    compare(file, bytes) {
      const hash = known.get(realName(file));
      if (hash === undefined) return 'unread';
      return hash === hashOf(bytes) ? 'same' : 'changed';
    },
  };
}

function realName(file: string): string {
  return findRealPath(file) ?? file;
}

// Times tell little: two changes may fall into one tick, and copying tools set them back.
function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
