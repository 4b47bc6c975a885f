import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { isHooklineError, getErrorMessage } from '../base/errors.ts';
import {
  type Collection,
  collectUnit,
  MAX_BYTES,
  createTooLargeError,
  type TrustUnit,
  createUnreadableError,
} from './collect-unit.ts';
import {
  computeDigest,
  ENTRY_TEXT_KEY,
  type FileMap,
  createFileMap,
  computeSha256,
  formatFileMark,
  toSearchedMark,
} from './file-map.ts';
import { type Fingerprint, isSettled, isUnchanged, probePath } from './fingerprint.ts';

/** A unit with the hashes of its files at the time of reading. */
export interface Binding {
  readonly id: string;
  /** Real path of the workspace root. */
  readonly root: string;
  /** Real path of the entry. */
  readonly entry: string;
  /** The entry relative to the root, as found by discovery. */
  readonly name: string;
  readonly text: string | null;
  /** Computed from `files` only, so that it does not depend on the path of the checkout. */
  readonly digest: string;
  readonly files: FileMap;
  /** Keys of `files` that locks of version 1 lack. */
  readonly followed: ReadonlySet<string>;
  /** What is not bound, as sentences. */
  readonly unbound: readonly string[];
  readonly fingerprint: Fingerprint;
}

// One buffer for all reads: they are sequential, and no chunk is retained.
const CHUNK_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

// Opening a FIFO in blocking mode would wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Throws a HooklineError when the unit is too large or something in it cannot be read. */
export function bindUnit(unit: TrustUnit): Binding {
  return bindCollection(hashFile, unit, collectUnit(unit));
}

/** The same for paths that were collected just before. */
export function bindCollection(hash: HashFile, unit: TrustUnit, collection: Collection): Binding {
  const hashes = new Map(collection.marks);
  let bytesLeft = MAX_BYTES;
  for (const [key, file] of collection.files) {
    const hashed = hashOrThrow(file, bytesLeft, hash);
    if (hashed === null) throw createTooLargeError(unit, '64 MiB');
    bytesLeft -= hashed.bytes;
    hashes.set(key, formatFileMark(hashed.sha256, collection.executable.has(key)));
  }
  for (const key of collection.searched) {
    hashes.set(key, toSearchedMark(hashes.get(key) ?? ''));
  }
  if (unit.text !== undefined) hashes.set(ENTRY_TEXT_KEY, computeSha256(unit.text));
  const files = createFileMap(hashes);
  return {
    id: unit.id,
    root: collection.root,
    entry: collection.entry,
    name: collection.name,
    text: unit.text ?? null,
    digest: computeDigest(files),
    files,
    followed: collection.followed,
    unbound: [...collection.unbound],
    fingerprint: collection.probes,
  };
}

function hashOrThrow(file: string, maxBytes: number, hash: HashFile): FileHash | null {
  try {
    return hash(file, maxBytes);
  } catch (error) {
    throw isHooklineError(error)
      ? error
      : createUnreadableError(file, getErrorMessage(error), error);
  }
}

export interface FileHash {
  readonly sha256: string;
  readonly bytes: number;
}

/** Null when there are more bytes than allowed. Throws when the file cannot be read. */
export type HashFile = (file: string, maxBytes: number) => FileHash | null;

/** Caches hashes by the state of the file, because hooks of one directory bind the same files. */
export function createFileHasher(clock: Clock): HashFile {
  const cache = new Map<string, { readonly fingerprint: Fingerprint; readonly hashed: FileHash }>();
  return (file, maxBytes) => {
    const cached = cache.get(file);
    if (cached !== undefined && isUnchanged(cached.fingerprint)) {
      return cached.hashed.bytes > maxBytes ? null : cached.hashed;
    }
    cache.delete(file);
    const fingerprint = [probePath(file, 'state')];
    const hashedAtMs = clock.now();
    const hashed = hashFile(file, maxBytes);
    if (hashed !== null && isSettled(fingerprint, hashedAtMs)) {
      cache.set(file, { fingerprint, hashed });
    }
    return hashed;
  };
}

/** Implements `HashFile` without a cache. */
export function hashFile(file: string, maxBytes: number): FileHash | null {
  const hash = createHash('sha256');
  const bytes = readChunks(file, maxBytes, (chunk) => hash.update(chunk));
  return bytes === null ? null : { sha256: hash.digest('hex'), bytes };
}

/** Null when there are more bytes than allowed. Throws when the file cannot be read. */
export function readBytes(file: string, maxBytes: number): Buffer | null {
  const chunks: Buffer[] = [];
  const bytes = readChunks(file, maxBytes, (chunk) => chunks.push(Buffer.from(chunk)));
  return bytes === null ? null : Buffer.concat(chunks);
}

function readChunks(
  file: string,
  maxBytes: number,
  onChunk: (chunk: Buffer) => void,
): number | null {
  const handle = openRegularFile(file);
  try {
    let total = 0;
    for (
      let read = readSync(handle, CHUNK_BUFFER);
      read > 0;
      read = readSync(handle, CHUNK_BUFFER)
    ) {
      total += read;
      if (total > maxBytes) return null;
      onChunk(CHUNK_BUFFER.subarray(0, read));
    }
    return total;
  } finally {
    closeSync(handle);
  }
}

function openRegularFile(file: string): number {
  const handle = openSync(file, OPEN_FLAGS);
  if (fstatSync(handle).isFile()) return handle;
  closeSync(handle);
  throw createUnreadableError(file, 'it is not a regular file');
}
