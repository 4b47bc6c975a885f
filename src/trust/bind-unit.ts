import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { isHooklineError, getErrorMessage } from '../base/errors.ts';
import {
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
} from './file-map.ts';
import { type Fingerprint, isSettled, isUnchanged, probePath } from './fingerprint.ts';

/** A unit with the exact bytes it had when it was read. */
export interface Binding {
  readonly id: string;
  /** Real path of the workspace root. */
  readonly root: string;
  /** Real path of the entry. */
  readonly entry: string;
  /** The entry relative to the root, as discovered. */
  readonly name: string;
  readonly text: string | null;
  /** Of `files` alone, so that it is the same wherever the checkout lies. */
  readonly digest: string;
  /** Mode bits are not part of it: git keeps one of them, and a hook runs without any. */
  readonly files: FileMap;
  /** What lies there and is not bound, as sentences. */
  readonly unbound: readonly string[];
  readonly fingerprint: Fingerprint;
}

// One for all: files are read one after the other, and nobody keeps a chunk.
const CHUNK = Buffer.allocUnsafeSlow(64 * 1024);

// Opening a FIFO to read it waits for a writer, unless it is opened without blocking.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Throws a HooklineError when the unit is too large or something in it cannot be read. */
export function bindUnit(unit: TrustUnit): Binding {
  return bindUnitWith(hashFile, unit);
}

export function bindUnitWith(hash: HashFile, unit: TrustUnit): Binding {
  const found = collectUnit(unit);
  const hashes = new Map(found.marks);
  let budget = MAX_BYTES;
  for (const [key, file] of found.files) {
    const hashed = hashBoundFile(file, budget, hash);
    if (hashed === null) throw createTooLargeError(unit, '64 MiB');
    budget -= hashed.bytes;
    hashes.set(key, hashed.sha256);
  }
  if (unit.text !== undefined) hashes.set(ENTRY_TEXT_KEY, computeSha256(unit.text));
  const files = createFileMap(hashes);
  return {
    id: unit.id,
    root: found.root,
    entry: found.entry,
    name: found.name,
    text: unit.text ?? null,
    digest: computeDigest(files),
    files,
    unbound: [...found.unbound],
    fingerprint: found.probes,
  };
}

function hashBoundFile(file: string, maxBytes: number, hash: HashFile): FileHash | null {
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

/** Reads a file again only when it may have changed: hooks of one directory bind the same files. */
export function createFileHasher(clock: Clock): HashFile {
  const known = new Map<string, { readonly seen: Fingerprint; readonly hashed: FileHash }>();
  return (file, maxBytes) => {
    const before = known.get(file);
    if (before !== undefined && isUnchanged(before.seen)) {
      return before.hashed.bytes > maxBytes ? null : before.hashed;
    }
    known.delete(file);
    const seen = [probePath(file, 'state')];
    const hashedAtMs = clock.now();
    const hashed = hashFile(file, maxBytes);
    if (hashed !== null && isSettled(seen, hashedAtMs)) known.set(file, { seen, hashed });
    return hashed;
  };
}

/** As `HashFile` says, always from the file itself. */
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

function readChunks(file: string, maxBytes: number, take: (chunk: Buffer) => void): number | null {
  const handle = openRegularFile(file);
  try {
    let total = 0;
    for (let read = readSync(handle, CHUNK); read > 0; read = readSync(handle, CHUNK)) {
      total += read;
      if (total > maxBytes) return null;
      take(CHUNK.subarray(0, read));
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
