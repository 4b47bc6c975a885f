import { createHash } from 'node:crypto';
import { isRecord, getTypeName } from '../base/json.ts';

/**
 * What each path held: the SHA-256 of its bytes, with `+x` when it is executable, or a mark:
 * `link:<target>`, `absent`, `directory`, `apart` for a directory that belongs to others. `path:` stands
 * before what is found only because the PATH leads into the workspace.
 * Paths are relative to the workspace root, those outside it absolute, always with `/`.
 */
export type FileMap = Readonly<Record<string, string>>;

/** An entry of a trust record or a lock. */
export interface BoundEntry {
  readonly id: string;
  readonly entry: string;
  readonly digest: string;
  readonly files: FileMap;
}

export interface FileDifference {
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
}

/** No path relative to a root begins with two slashes, so this key never collides with a file. */
export const ENTRY_TEXT_KEY = '//entry-text';

export const APART_MARK = 'apart';

/** The paths of which more than their existence is bound. */
export function listBoundPaths(files: FileMap): readonly string[] {
  return Object.entries(files).flatMap(([path, mark]) => (mark === APART_MARK ? [] : [path]));
}

const SHA256 = /^[0-9a-f]{64}$/;

export function isSha256(text: string): boolean {
  return SHA256.test(text);
}

const SEARCHED = 'path:';
const EXECUTABLE = '+x';

/** The value of a file: of its mode only the executable bit counts, as in git. */
export function formatFileMark(sha256: string, isExecutable: boolean): string {
  return isExecutable ? `${sha256}${EXECUTABLE}` : sha256;
}

export function toSearchedMark(mark: string): string {
  return `${SEARCHED}${mark}`;
}

/** The SHA-256 in a value, or null when it is a mark. */
export function findSha256(value: string): string | null {
  const mark = value.startsWith(SEARCHED) ? value.slice(SEARCHED.length) : value;
  const sha256 = mark.endsWith(EXECUTABLE) ? mark.slice(0, -EXECUTABLE.length) : mark;
  return isSha256(sha256) ? sha256 : null;
}

/** The map as locks of version 1 have it: without modes, and without what bound files load or start. */
export function toFirstVersion(files: FileMap, followed: ReadonlySet<string>): FileMap {
  const named = Object.entries(files).filter(([key]) => !followed.has(key));
  return createFileMap(named.map(([key, value]) => [key, findSha256(value) ?? value]));
}

/**
 * Whether everything that is there now was trusted, and nothing trusted is missing but programs on a PATH
 * that does not lead into the workspace any more: those do not run.
 */
export function isCoveredBy(trusted: FileMap, now: FileMap): boolean {
  return compareFileMaps(trusted, now).every(
    ({ path, kind }) => kind === 'removed' && trusted[path]?.startsWith(SEARCHED) === true,
  );
}

export function computeSha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function createFileMap(pairs: Iterable<readonly [string, string]>): FileMap {
  // Object.fromEntries, unlike assignment, also keeps a file named `__proto__`.
  return Object.fromEntries([...pairs].toSorted(comparePaths));
}

/** Equal for equal file maps and only for those, in any order of insertion. */
export function computeDigest(files: FileMap): string {
  return computeSha256(JSON.stringify(Object.entries(files).toSorted(comparePaths)));
}

function comparePaths(a: readonly [string, string], b: readonly [string, string]): number {
  return compareText(a[0], b[0]);
}

/** Orders by UTF-16 unit, independent of the locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function compareFileMaps(before: FileMap, after: FileMap): readonly FileDifference[] {
  const old = new Map(Object.entries(before));
  const now = new Map(Object.entries(after));
  const paths = [...new Set([...old.keys(), ...now.keys()])].toSorted(compareText);
  return paths.flatMap((path): readonly FileDifference[] => {
    if (!old.has(path)) return [{ path, kind: 'added' }];
    if (!now.has(path)) return [{ path, kind: 'removed' }];
    return old.get(path) === now.get(path) ? [] : [{ path, kind: 'changed' }];
  });
}

export type ParsedEntry =
  | { readonly ok: true; readonly entry: BoundEntry }
  | { readonly ok: false; readonly problem: string };

/** Parses one entry of a record or lock; `place` names it in problems, as in `hooks[3]`. */
export function parseBoundEntry(value: unknown, place: string): ParsedEntry {
  if (!isRecord(value)) return createProblem(place, 'an object', value);
  const { id, entry, digest, files } = value;
  if (typeof id !== 'string') return createProblem(`${place}.id`, 'a string', id);
  if (typeof entry !== 'string') return createProblem(`${place}.entry`, 'a string', entry);
  if (typeof digest !== 'string') return createProblem(`${place}.digest`, 'a string', digest);
  if (!isFileMap(files)) return createProblem(`${place}.files`, 'an object of strings', files);
  if (computeDigest(files) !== digest) {
    return { ok: false, problem: `${place}.digest is not the digest of ${place}.files` };
  }
  return { ok: true, entry: { id, entry, digest, files } };
}

function createProblem(place: string, expected: string, found: unknown): ParsedEntry {
  const foundType = found === undefined ? 'nothing' : getTypeName(found);
  return { ok: false, problem: `${place} must be ${expected}, found ${foundType}` };
}

function isFileMap(value: unknown): value is FileMap {
  return isRecord(value) && Object.values(value).every((mark) => typeof mark === 'string');
}
