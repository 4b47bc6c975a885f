import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createPrivateDirectory } from '../../../base/files.ts';

/** Buffers output and writes it to a file once it exceeds a limit. */
export interface SpillFile {
  push(chunk: Buffer): void;
  /** Null when the output was short or could not be written. */
  finish(): SavedOutput | null;
  /** Call instead of `finish` when the file is not needed. */
  discard(): void;
}

export interface SavedOutput {
  readonly path: string;
  readonly bytes: number;
  /** Whether the file contains all output. */
  readonly isWhole: boolean;
}

const MIB = 1024 * 1024;
/** Keeps an endless command from filling the disk. */
const MAX_FILE_BYTES = 512 * MIB;

/** `fromBytes` is the size from which a file is written. */
export function createSpillFile(
  directory: string | null,
  fromBytes: number,
  maxBytes: number = MAX_FILE_BYTES,
): SpillFile {
  return directory === null ? NO_FILE : new LazyFile(directory, fromBytes, maxBytes);
}

const NO_FILE: SpillFile = { push: () => {}, finish: () => null, discard: () => {} };

class LazyFile implements SpillFile {
  readonly #directory: string;
  readonly #fromBytes: number;
  readonly #maxBytes: number;
  readonly #path: string;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #descriptor: number | null = null;
  #bytes = 0;
  #isWhole = true;

  constructor(directory: string, fromBytes: number, maxBytes: number) {
    this.#directory = directory;
    this.#fromBytes = fromBytes;
    this.#maxBytes = maxBytes;
    this.#path = path.join(directory, `b${randomUUID().slice(0, 8)}.txt`);
  }

  push(chunk: Buffer): void {
    if (this.#descriptor !== null || !this.#isWhole) return this.#write(chunk);
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > this.#fromBytes) this.#open();
  }

  #open(): void {
    const waiting = Buffer.concat(this.#waiting);
    this.#waiting = [];
    try {
      createPrivateDirectory(this.#directory);
      this.#descriptor = openSync(this.#path, 'wx', 0o600);
    } catch {
      this.#isWhole = false;
    }
    this.#write(waiting);
  }

  // Synchronous, so that a program that writes faster than the disk has to wait.
  #write(chunk: Buffer): void {
    if (this.#descriptor === null || !this.#isWhole) return;
    const room = this.#maxBytes - this.#bytes;
    this.#isWhole = chunk.length <= room;
    try {
      for (let at = 0, end = Math.min(room, chunk.length); at < end;) {
        const written = writeSync(this.#descriptor, chunk, at, end - at);
        at += written;
        this.#bytes += written;
      }
    } catch {
      this.#isWhole = false;
    }
  }

  finish(): SavedOutput | null {
    if (this.#descriptor === null) return null;
    closeSync(this.#descriptor);
    return { path: this.#path, bytes: this.#bytes, isWhole: this.#isWhole };
  }

  discard(): void {
    if (this.finish() !== null) rmSync(this.#path, { force: true });
  }
}
