import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { appendPrivateFile } from '../../base/files.ts';
import type { EntryLines } from './entry-lines.ts';

/** The growing end of a transcript. */
export interface TranscriptFile {
  /**
   * Adds lines that follow the one whose uuid they are made with; returns the last one's uuid.
   * They are with the system when it returns. Throws when they cannot be written.
   */
  append(make: (parentUuid: string | null) => EntryLines): string;
}

export function openTranscript(file: string): TranscriptFile {
  let known: FileEnd | null = null;
  return {
    append(make) {
      const { lastUuid: parentUuid, isInLine } = known ?? readEnd(file);
      const { text, lastUuid } = make(parentUuid);
      // A disk that is full may take half a line; then the end must be looked at again.
      known = null;
      appendPrivateFile(file, isInLine ? `\n${text}` : text);
      known = { lastUuid, isInLine: false };
      return lastUuid;
    },
  };
}

interface FileEnd {
  readonly lastUuid: string | null;
  /** Whether the last line has no end, because whoever wrote it was killed. */
  readonly isInLine: boolean;
}

const END_BYTES = 64 * 1024;
const LINE_BREAK = 0x0a;

function readEnd(file: string): FileEnd {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return { lastUuid: null, isInLine: false };
  const handle = openSync(file, 'r');
  try {
    const end = Buffer.alloc(Math.min(size, END_BYTES));
    const length = readSync(handle, end, 0, end.length, size - end.length);
    const uuids = [...end.toString('latin1', 0, length).matchAll(/,"uuid":"([\w-]{1,64})"/gu)];
    return { lastUuid: uuids.at(-1)?.[1] ?? null, isInLine: end[length - 1] !== LINE_BREAK };
  } finally {
    closeSync(handle);
  }
}
