import { isHooklineError, getErrorMessage } from '../base/errors.ts';
import { readTextIfPresent, replacePrivateFileSync } from '../base/files.ts';
import { isRecord, parseJson } from '../base/json.ts';
import { hashFile } from './bind-unit.ts';
import { MAX_BYTES } from './collect-unit.ts';
import { type FileMap, createFileMap, computeSha256 } from './file-map.ts';

export interface HomeHookChange {
  readonly path: string;
  readonly kind: 'new' | 'changed';
}

export interface HomeHookReport {
  readonly changes: readonly HomeHookChange[];
  /** Why the list is incomplete or could not be stored. */
  readonly notes: readonly string[];
}

/**
 * Hooks in the home directory run without a trust decision, so their changes since the last run are
 * reported. `texts` are config entries, by a name for each. Never throws: the hooks run anyway.
 */
export function detectHomeHookChanges(
  hashesFile: string,
  files: readonly string[],
  texts: Readonly<Record<string, string>> = {},
): HomeHookReport {
  const before = readKnownHashes(hashesFile);
  const now = hashFiles(files, before.hashes);
  for (const [name, text] of Object.entries(texts)) now.hashes.set(name, computeSha256(text));
  const notes = [...before.notes, ...now.notes];
  const changes = before.hashes === null ? [] : compareHashes(before.hashes, now.hashes);
  const isUnchanged = before.hashes !== null && hasSameHashes(before.hashes, now.hashes);
  if (isUnchanged) return { changes, notes };
  return { changes, notes: [...notes, ...writeHashes(hashesFile, now.hashes)] };
}

type Hashes = ReadonlyMap<string, string>;

function readKnownHashes(hashesFile: string): {
  hashes: Hashes | null;
  notes: readonly string[];
} {
  try {
    const text = readTextIfPresent(hashesFile);
    if (text === null) return { hashes: null, notes: [] };
    const parsed = parseJson(text);
    if (parsed.ok && isRecord(parsed.value) && isHashes(parsed.value.files)) {
      return { hashes: new Map(Object.entries(parsed.value.files)), notes: [] };
    }
    const note = `${hashesFile} is not a list of known hooks, so earlier changes are not reported`;
    return { hashes: null, notes: [note] };
  } catch (error) {
    return { hashes: null, notes: [`${hashesFile} cannot be read: ${getErrorMessage(error)}`] };
  }
}

function isHashes(value: unknown): value is FileMap {
  return isRecord(value) && Object.values(value).every((hash) => typeof hash === 'string');
}

function hashFiles(
  files: readonly string[],
  before: Hashes | null,
): { hashes: Map<string, string>; notes: string[] } {
  const hashes = new Map<string, string>();
  const notes: string[] = [];
  for (const file of files) {
    const hashed = hashFileOrNote(file);
    if (hashed.ok) {
      hashes.set(file, hashed.sha256);
      continue;
    }
    notes.push(hashed.note);
    const oldHash = before?.get(file);
    if (oldHash !== undefined) hashes.set(file, oldHash);
  }
  return { hashes, notes };
}

type HashResult =
  | { readonly ok: true; readonly sha256: string }
  | { readonly ok: false; readonly note: string };

function hashFileOrNote(file: string): HashResult {
  try {
    const hashed = hashFile(file, MAX_BYTES);
    if (hashed !== null) return { ok: true, sha256: hashed.sha256 };
    return { ok: false, note: `${JSON.stringify(file)} is too large to be checked for changes` };
  } catch (error) {
    if (isHooklineError(error)) return { ok: false, note: error.message };
    return { ok: false, note: `${JSON.stringify(file)} cannot be read: ${getErrorMessage(error)}` };
  }
}

function compareHashes(before: Hashes, now: Hashes): readonly HomeHookChange[] {
  return [...now].flatMap(([path, sha256]): readonly HomeHookChange[] => {
    const oldHash = before.get(path);
    if (oldHash === undefined) return [{ path, kind: 'new' }];
    return oldHash === sha256 ? [] : [{ path, kind: 'changed' }];
  });
}

function hasSameHashes(before: Hashes, now: Hashes): boolean {
  return before.size === now.size && [...now].every(([path, hash]) => before.get(path) === hash);
}

function writeHashes(hashesFile: string, hashes: Hashes): readonly string[] {
  try {
    const text = JSON.stringify({ version: 1, files: createFileMap(hashes) }, null, 2);
    replacePrivateFileSync(hashesFile, `${text}\n`);
    return [];
  } catch (error) {
    return [
      `${hashesFile} cannot be written, so the changes will be reported again: ${getErrorMessage(error)}`,
    ];
  }
}
