import { createHash } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import { systemClock } from '../../../base/clock.ts';
import { findRealPath } from '../../../base/paths.ts';
import { MAX_WHOLE_BYTES, readPath } from './read-path.ts';

/** A file that changed on disk since it was read, with its bytes before where they were remembered. */
export interface ChangedFile {
  readonly file: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array;
}

/** Which agent of a session wrote a file last. All trackers of a session share one. */
export class FileWrites {
  readonly #writes = new Map<string, { readonly writer: ReadTracker; readonly number: number }>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(file: string, writer: ReadTracker): void {
    this.#count += 1;
    this.#writes.set(file, { writer, number: this.#count });
  }

  /** Whether another agent wrote the file after that many writes. */
  hasOtherWriter(file: string, tracker: ReadTracker, count: number): boolean {
    const write = this.#writes.get(file);
    return write !== undefined && write.writer !== tracker && write.number > count;
  }
}

/** Records which contents an agent has read, so that it cannot overwrite anything unread. */
export class ReadTracker {
  readonly #files = new Map<string, ReadFile>();
  readonly #writes: FileWrites;
  #rememberedBytes = 0;

  constructor(writes: FileWrites = new FileWrites()) {
    this.#writes = writes;
  }

  /** Marks these bytes as read by the agent. */
  markRead(file: string, bytes: Uint8Array): void {
    const real = resolveRealPath(file);
    this.#forget(real);
    this.#files.set(real, {
      file,
      hash: computeHash(bytes),
      stamp: readStamp(real),
      bytes: bytes.length > MAX_REMEMBERED_BYTES ? null : bytes,
    });
    this.#rememberedBytes += bytes.length > MAX_REMEMBERED_BYTES ? 0 : bytes.length;
    this.#limitMemory();
  }

  /** Marks these bytes as written by the agent, which has read them, too. */
  markWritten(file: string, bytes: Uint8Array): void {
    this.markRead(file, bytes);
    this.#writes.add(resolveRealPath(file), this);
  }

  /** Compares the recorded content with the current one. */
  compare(file: string, bytes: Uint8Array): 'unread' | 'changed' | 'same' {
    const hash = this.#files.get(resolveRealPath(file))?.hash;
    if (hash === undefined) return 'unread';
    return hash === computeHash(bytes) ? 'same' : 'changed';
  }

  /**
   * Begins to watch the files that are on disk as the agent knows them. The function that it returns lists
   * those that changed since, but for what an agent wrote or read meanwhile.
   */
  watchFiles(): () => readonly ChangedFile[] {
    const known = [...this.#files].filter(([real, read]) => isUnchanged(real, read));
    const { count } = this.#writes;
    return () =>
      known.flatMap(([real, read]) => {
        const isStale = this.#files.get(real) !== read;
        if (isStale || this.#writes.hasOtherWriter(real, this, count)) return [];
        const after = readChanged(real, read);
        return after === null ? [] : [{ file: read.file, before: read.bytes, after }];
      });
  }

  #forget(real: string): void {
    this.#rememberedBytes -= this.#files.get(real)?.bytes?.length ?? 0;
    // Set anew, the file comes last, and its bytes are dropped last.
    this.#files.delete(real);
  }

  #limitMemory(): void {
    for (const [real, read] of this.#files) {
      if (this.#rememberedBytes <= MAX_REMEMBERED_BYTES_IN_ALL) return;
      this.#rememberedBytes -= read.bytes?.length ?? 0;
      this.#files.set(real, { ...read, bytes: null });
    }
  }
}

/** The content of a file as an agent knows it. */
interface ReadFile {
  /** Its path as the agent wrote it. */
  readonly file: string;
  readonly hash: string;
  /** Renewed when the content was found to be the same. */
  stamp: FileStamp | null;
  /** Remembered to tell what changed; null when there is too much of it. */
  readonly bytes: Uint8Array | null;
}

const MAX_REMEMBERED_BYTES = 256 * 1024;
const MAX_REMEMBERED_BYTES_IN_ALL = 8 * 1024 * 1024;

/** What changes with every write to a file. */
interface FileStamp {
  readonly text: string;
  /** Whether a later write may have the same times, because clocks of file systems are coarse. */
  readonly isRecent: boolean;
}

const COARSE_CLOCK_MS = 50;

function readStamp(file: string): FileStamp | null {
  const stats = readStats(file);
  if (stats === null) return null;
  const { ino, size, mtimeNs, ctimeNs, ctimeMs } = stats;
  return {
    text: [ino, size, mtimeNs, ctimeNs].join(' '),
    isRecent: systemClock.now() - Number(ctimeMs) < COARSE_CLOCK_MS,
  };
}

function readStats(file: string): BigIntStats | null {
  try {
    return statSync(file, { bigint: true });
  } catch {
    return null;
  }
}

function isUnchanged(file: string, read: ReadFile): boolean {
  return readStamp(file) !== null && readChanged(file, read) === null;
}

/** The bytes of a file that differ from what was read; null when it is the same, gone or unreadable. */
function readChanged(file: string, read: ReadFile): Uint8Array | null {
  const { stamp } = read;
  const now = readStamp(file);
  if (now === null || (stamp?.isRecent === false && stamp.text === now.text)) return null;
  const found = readPath(file, MAX_WHOLE_BYTES);
  if (found.is !== 'file') return null;
  if (computeHash(found.bytes) !== read.hash) return found.bytes;
  read.stamp = now;
  return null;
}

function resolveRealPath(file: string): string {
  return findRealPath(file) ?? file;
}

// A hash, because modification times are too coarse and copying tools reset them.
function computeHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
