import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode } from '../base/errors.ts';
import { isNotFoundError, replacePrivateFileSync } from '../base/files.ts';
import { type Binding, readBytes } from './bind-unit.ts';
import { MAX_BYTES } from './collect-unit.ts';
import {
  type BoundEntry,
  compareFileMaps,
  ENTRY_TEXT_KEY,
  type FileDifference,
  findSha256,
  computeSha256,
} from './file-map.ts';
import { isCompiled } from './follow-references.ts';

/** A path that differs from the trusted state; texts are null when compiled, too large or lost. */
export interface FileChange extends FileDifference {
  readonly before: string | null;
  readonly after: string | null;
}

const MAX_TEXT_BYTES = 256 * 1024;
const STORED_NAME = /^([0-9a-f]{64})(?:\.\d+\.tmp)?$/;

/** The changes to review before trusting again what was bound now. */
export function computeChangesSince(
  trusted: BoundEntry,
  now: Binding,
  objectsDirectory: string,
): readonly FileChange[] {
  const before = new Map(Object.entries(trusted.files));
  const after = new Map(Object.entries(now.files));
  return compareFileMaps(trusted.files, now.files).map(({ path, kind }) => ({
    path,
    kind,
    before: readHeldText(before.get(path), (sha256) => readStoredText(objectsDirectory, sha256)),
    after: readHeldText(after.get(path), (sha256) => readCurrentText(now, path, sha256)),
  }));
}

function readHeldText(
  mark: string | undefined,
  readText: (sha256: string) => string | null,
): string | null {
  if (mark === undefined) return null;
  const sha256 = findSha256(mark);
  return sha256 === null ? mark : readText(sha256);
}

function readStoredText(directory: string, sha256: string): string | null {
  return toText(readBytesWithHash(path.join(directory, sha256), sha256, MAX_TEXT_BYTES));
}

function readCurrentText(binding: Binding, key: string, sha256: string): string | null {
  if (key === ENTRY_TEXT_KEY) return binding.text;
  const file = path.resolve(binding.root, key);
  return toText(readBytesWithHash(file, sha256, MAX_TEXT_BYTES));
}

/** The bytes of a file as they were bound; null when it has others by now, or is not bound. */
export function readBoundBytes(binding: Binding, file: string): Buffer | null {
  const mark = binding.files[path.relative(binding.root, file)];
  const sha256 = mark === undefined ? null : findSha256(mark);
  return sha256 === null ? null : readBytesWithHash(file, sha256, MAX_BYTES);
}

/** Stores the texts of trusted files, so that a later change can be shown as a diff. */
export function storeTexts(objectsDirectory: string, binding: Binding): void {
  for (const [key, value] of Object.entries(binding.files)) {
    const sha256 = findSha256(value);
    if (sha256 === null) continue;
    const bytes =
      key === ENTRY_TEXT_KEY
        ? binding.text
        : readBytesWithHash(path.resolve(binding.root, key), sha256, MAX_TEXT_BYTES);
    if (bytes === null || (typeof bytes !== 'string' && isCompiled(bytes))) continue;
    replacePrivateFileSync(path.join(objectsDirectory, sha256), bytes);
  }
}

/** Null unless the file still has these bytes, and not too many. */
function readBytesWithHash(file: string, sha256: string, maxBytes: number): Buffer | null {
  try {
    const bytes = readBytes(file, maxBytes);
    return bytes !== null && computeSha256(bytes) === sha256 ? bytes : null;
  } catch {
    return null;
  }
}

function toText(bytes: Buffer | null): string | null {
  return bytes === null || isCompiled(bytes) ? null : decodeForReview(bytes);
}

/**
 * Decodes bytes so that each of them can be seen: a shell runs a script with a NUL or a stray byte in it, and
 * replacing those would make different scripts look the same.
 */
export function decodeForReview(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

/** Removes the texts that no trusted entry refers to; must run while the record is locked. */
export function deleteUnreferencedTexts(
  objectsDirectory: string,
  entries: readonly BoundEntry[],
): void {
  const referenced = new Set(
    entries.flatMap(({ files }) => Object.values(files).map((value) => findSha256(value))),
  );
  for (const name of listNames(objectsDirectory)) {
    const sha256 = STORED_NAME.exec(name)?.[1];
    if (sha256 === undefined || (name === sha256 && referenced.has(sha256))) continue;
    rmSync(path.join(objectsDirectory, name), { force: true });
  }
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isNotFoundError(error) || getErrorCode(error) === 'EACCES') return [];
    throw error;
  }
}
