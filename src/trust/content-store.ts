import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode } from '../base/errors.ts';
import { isNotFoundError, replacePrivateFileSync } from '../base/files.ts';
import { type Binding, bindUnit, readBytes } from './bind-unit.ts';
import type { TrustUnit } from './collect-unit.ts';
import {
  type BoundEntry,
  compareFileMaps,
  ENTRY_TEXT_KEY,
  type FileDifference,
  findSha256,
  computeSha256,
} from './file-map.ts';

/** A path that differs from the trusted state; texts are null when binary, too large or lost. */
export interface FileChange extends FileDifference {
  readonly before: string | null;
  readonly after: string | null;
}

const MAX_TEXT_BYTES = 256 * 1024;
const STORED_NAME = /^([0-9a-f]{64})(?:\.\d+\.tmp)?$/;

/** The changes to review before trusting the unit again. */
export function computeChangesSince(
  trusted: BoundEntry,
  unit: TrustUnit,
  objectsDirectory: string,
): readonly FileChange[] {
  const now = bindUnit(unit);
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
  return readTextWithHash(path.join(directory, sha256), sha256)?.text ?? null;
}

function readCurrentText(binding: Binding, key: string, sha256: string): string | null {
  if (key === ENTRY_TEXT_KEY) return binding.text;
  return readTextWithHash(path.resolve(binding.root, key), sha256)?.text ?? null;
}

/** Stores the texts of trusted files, so that a later change can be shown as a diff. */
export function storeTexts(objectsDirectory: string, binding: Binding): void {
  for (const [key, value] of Object.entries(binding.files)) {
    const sha256 = findSha256(value);
    if (sha256 === null) continue;
    const text = readCurrentText(binding, key, sha256);
    if (text !== null) replacePrivateFileSync(path.join(objectsDirectory, sha256), text);
  }
}

/** Null unless the file still has these bytes and they are a text of limited size. */
function readTextWithHash(file: string, sha256: string): { readonly text: string } | null {
  const bytes = tryReadBytes(file);
  if (bytes === null || computeSha256(bytes) !== sha256 || bytes.includes(0)) return null;
  return decodeUtf8(bytes);
}

function tryReadBytes(file: string): Buffer | null {
  try {
    return readBytes(file, MAX_TEXT_BYTES);
  } catch {
    return null;
  }
}

function decodeUtf8(bytes: Buffer): { readonly text: string } | null {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return null;
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
