import { isHooklineError, getErrorMessage } from '../base/errors.ts';
import { readTextIfPresent, replacePrivateFile } from '../base/files.ts';
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
  /** What kept the list from being complete or from being remembered. */
  readonly notes: readonly string[];
}

/**
 * Home-level hooks run because of where they lie, so what changed there since the last run is said.
 * `texts` are entries of files that hold more than hooks, by a name for each. Never throws: a hook of
 * the home directory does not depend on this list.
 */
export function detectHomeHookChanges(
  seenFile: string,
  files: readonly string[],
  texts: Readonly<Record<string, string>> = {},
): HomeHookReport {
  const before = readSeen(seenFile);
  const now = hashAll(files, before.seen);
  for (const [name, text] of Object.entries(texts)) now.seen.set(name, computeSha256(text));
  const notes = [...before.notes, ...now.notes];
  const changes = before.seen === null ? [] : changesBetween(before.seen, now.seen);
  const isRemembered = before.seen !== null && hasSame(before.seen, now.seen);
  if (isRemembered) return { changes, notes };
  return { changes, notes: [...notes, ...remember(seenFile, now.seen)] };
}

type Seen = ReadonlyMap<string, string>;

interface SeenBefore {
  readonly seen: Seen | null;
  readonly notes: readonly string[];
}

function readSeen(seenFile: string): SeenBefore {
  try {
    const text = readTextIfPresent(seenFile);
    return text === null ? { seen: null, notes: [] } : parseSeen(text, seenFile);
  } catch (error) {
    return { seen: null, notes: [`${seenFile} cannot be read: ${getErrorMessage(error)}`] };
  }
}

function parseSeen(text: string, seenFile: string): SeenBefore {
  const parsed = parseJson(text);
  if (parsed.ok && isRecord(parsed.value) && isHashes(parsed.value.files)) {
    return { seen: new Map(Object.entries(parsed.value.files)), notes: [] };
  }
  const note = `${seenFile} is not a list of seen hooks, so changes before this run are not known`;
  return { seen: null, notes: [note] };
}

function isHashes(value: unknown): value is FileMap {
  return isRecord(value) && Object.values(value).every((hash) => typeof hash === 'string');
}

function hashAll(
  files: readonly string[],
  before: Seen | null,
): { seen: Map<string, string>; notes: string[] } {
  const seen = new Map<string, string>();
  const notes: string[] = [];
  for (const file of files) {
    const hashed = tryHash(file);
    if (hashed.ok) {
      seen.set(file, hashed.sha256);
      continue;
    }
    notes.push(hashed.note);
    const known = before?.get(file);
    if (known !== undefined) seen.set(file, known);
  }
  return { seen, notes };
}

type TriedHash =
  | { readonly ok: true; readonly sha256: string }
  | { readonly ok: false; readonly note: string };

function tryHash(file: string): TriedHash {
  try {
    const hashed = hashFile(file, MAX_BYTES);
    if (hashed !== null) return { ok: true, sha256: hashed.sha256 };
    return { ok: false, note: `${JSON.stringify(file)} is too large to watch for changes` };
  } catch (error) {
    if (isHooklineError(error)) return { ok: false, note: error.message };
    return { ok: false, note: `${JSON.stringify(file)} cannot be read: ${getErrorMessage(error)}` };
  }
}

function changesBetween(before: Seen, now: Seen): readonly HomeHookChange[] {
  return [...now].flatMap(([path, sha256]): readonly HomeHookChange[] => {
    const known = before.get(path);
    if (known === undefined) return [{ path, kind: 'new' }];
    return known === sha256 ? [] : [{ path, kind: 'changed' }];
  });
}

function hasSame(before: Seen, now: Seen): boolean {
  return before.size === now.size && [...now].every(([path, hash]) => before.get(path) === hash);
}

function remember(seenFile: string, seen: Seen): readonly string[] {
  try {
    const text = JSON.stringify({ version: 1, files: createFileMap(seen) }, null, 2);
    replacePrivateFile(seenFile, `${text}\n`);
    return [];
  } catch (error) {
    return [
      `${seenFile} cannot be written, so changes are announced again: ${getErrorMessage(error)}`,
    ];
  }
}
