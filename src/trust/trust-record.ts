import path from 'node:path';
import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { readTextIfPresent, updatePrivateFile, replacePrivateFile } from '../base/files.ts';
import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import type { Binding } from './bind-unit.ts';
import { type BoundEntry, compareText, parseBoundEntry, computeSha256 } from './file-map.ts';
import { deleteUnreferencedTexts, storeTexts } from './content-store.ts';
import { lstatSync, statSync, type Stats } from 'node:fs';

export interface TrustedEntry extends BoundEntry {
  /** Real path of the workspace root. */
  readonly root: string;
  /** ISO 8601. */
  readonly trustedAt: string;
}

export interface TrustRecord {
  readonly version: 1;
  readonly entries: readonly TrustedEntry[];
  /** Whether the file is not as Hookline last wrote it. */
  readonly changedOutside: boolean;
}

interface RevokeTrustOptions {
  readonly root: string;
  /** Workspaces that must not hold the record; the root itself when absent. */
  readonly guardedRoots?: readonly string[];
  /** All hooks of the root when absent. */
  readonly ids?: readonly string[];
}

/** Where the texts of trusted files are kept, for `changesSince`. */
export function getTrustObjectsDirectory(record: string): string {
  return path.join(path.dirname(record), 'trust-objects');
}

/** Throws TRUST_RECORD_INVALID when the record must not be believed; then trust nothing. */
export function readTrustRecord(file: string, workspaceRoots: readonly string[]): TrustRecord {
  refuseUnsafePlace(file, workspaceRoots);
  const text = readRecordText(file);
  return { version: 1, entries: parseEntries(text, file), changedOutside: isUnsealed(file, text) };
}

/** As `readTrustRecord`, with the error as a value that a checker takes in the record's place. */
export function tryReadTrustRecord(
  file: string,
  workspaceRoots: readonly string[],
): TrustRecord | HooklineError {
  try {
    return readTrustRecord(file, workspaceRoots);
  } catch (error) {
    if (isHooklineError(error)) return error;
    throw error;
  }
}

function refuseUnsafePlace(file: string, workspaceRoots: readonly string[]): void {
  const problem = findLocationProblem(file, workspaceRoots);
  if (problem === null) return;
  throw new HooklineError('TRUST_RECORD_INVALID', {
    message: `the trust record ${file} is not believed: ${problem}`,
    hint: 'It must be a file of your own, outside every workspace, that only you can write. A workspace can be named with --root.',
  });
}

function readRecordText(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch (error) {
    throw invalidRecord(file, getErrorMessage(error));
  }
}

function parseEntries(text: string | null, file: string): readonly TrustedEntry[] {
  if (text === null) return [];
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalidRecord(file, `it is not JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) {
    throw invalidRecord(file, `it must be an object, found ${getTypeName(parsed.value)}`);
  }
  const { version, entries } = parsed.value;
  if (version !== 1) throw invalidRecord(file, `version must be 1, found ${getTypeName(version)}`);
  if (!Array.isArray(entries)) {
    throw invalidRecord(file, `entries must be an array, found ${getTypeName(entries)}`);
  }
  return entries.map((entry, index) => parseEntry(entry, { index, file }));
}

function parseEntry(value: unknown, { index, file }: { index: number; file: string }) {
  const place = `entries[${index}]`;
  const parsed = parseBoundEntry(value, place);
  if (!parsed.ok) throw invalidRecord(file, parsed.problem);
  const { root, trustedAt } = isRecord(value) ? value : {};
  if (typeof root !== 'string' || typeof trustedAt !== 'string') {
    throw invalidRecord(file, `${place}.root and ${place}.trustedAt must be strings`);
  }
  return { root, ...parsed.entry, trustedAt };
}

function invalidRecord(file: string, problem: string): HooklineError {
  return new HooklineError('TRUST_RECORD_INVALID', {
    message: `the trust record ${file} cannot be read as one: ${problem}`,
    hint: 'Move it away and trust your hooks again; until then no workspace hook is trusted.',
  });
}

interface GrantTrustOptions {
  readonly now: number;
  /** Workspaces that must not hold the record; those of the bindings when absent. */
  readonly guardedRoots?: readonly string[];
}

/** Trusts what was bound, and so what was shown, not what may lie there by now. */
export async function grantTrust(
  file: string,
  bindings: readonly Binding[],
  options: GrantTrustOptions,
): Promise<TrustRecord> {
  const trustedAt = new Date(options.now).toISOString();
  const trusted = bindings.map((binding) => trustedEntry(binding, trustedAt));
  const replaced = new Set(trusted.map(ownerOf));
  return updateRecord({
    file,
    roots: options.guardedRoots ?? bindings.map(({ root }) => root),
    bindings,
    change: (entries) => [...entries.filter((e) => !replaced.has(ownerOf(e))), ...trusted],
  });
}

function trustedEntry(binding: Binding, trustedAt: string): TrustedEntry {
  const { root, id, entry, digest, files } = binding;
  return { root, id, entry, digest, files, trustedAt };
}

function ownerOf({ root, id }: TrustedEntry): string {
  return JSON.stringify([root, id]);
}

export async function revokeTrust(
  file: string,
  untrusting: RevokeTrustOptions,
): Promise<TrustRecord> {
  const { root, ids, guardedRoots } = untrusting;
  // A workspace that is gone can still be taken out of the record, by the path it had.
  const real = findRealPath(root) ?? path.resolve(root);
  const isMeant = (entry: TrustedEntry): boolean =>
    entry.root === real && (ids === undefined || ids.includes(entry.id));
  return updateRecord({
    file,
    roots: guardedRoots ?? [real],
    bindings: [],
    change: (entries) => entries.filter((entry) => !isMeant(entry)),
  });
}

interface RecordUpdate {
  readonly file: string;
  readonly roots: readonly string[];
  readonly bindings: readonly Binding[];
  readonly change: (entries: readonly TrustedEntry[]) => readonly TrustedEntry[];
}

async function updateRecord(update: RecordUpdate): Promise<TrustRecord> {
  const { file, roots } = update;
  refuseUnsafePlace(file, roots);
  let written: TrustRecord | null = null;
  try {
    await updatePrivateFile(file, (before) => {
      written = applyUpdate(update, before);
      return sealedText(file, { before, after: formatRecord(written) });
    });
    await updatePrivateFile(file, (text) => sealedText(file, { before: null, after: text ?? '' }));
  } catch (error) {
    throw isHooklineError(error) ? error : unwritable(file, error);
  }
  return written ?? readTrustRecord(file, roots);
}

function applyUpdate(update: RecordUpdate, before: string | null): TrustRecord {
  const { file } = update;
  const entries = update.change(parseEntries(before, file)).toSorted(byOwnerAndEntry);
  const objects = getTrustObjectsDirectory(file);
  for (const binding of update.bindings) storeTexts(objects, binding);
  deleteUnreferencedTexts(objects, entries);
  return { version: 1, entries, changedOutside: isUnsealed(file, before) };
}

function byOwnerAndEntry(a: TrustedEntry, b: TrustedEntry): number {
  return compareText(a.root, b.root) || compareText(a.id, b.id) || compareText(a.entry, b.entry);
}

function formatRecord({ version, entries }: TrustRecord): string {
  return `${JSON.stringify({ version, entries }, null, 2)}\n`;
}

/**
 * Seals the text that is about to be written. Until that has happened the text before is sealed,
 * too, or a reader in between would be told of a change from outside.
 */
function sealedText(file: string, texts: { before: string | null; after: string }): string {
  const sealed = texts.before === null ? [texts.after] : [texts.after, texts.before];
  replacePrivateFile(sealOf(file), `${sealed.map(computeSha256).join('\n')}\n`);
  return texts.after;
}

function isUnsealed(file: string, text: string | null): boolean {
  const seals = readSeals(file);
  if (text === null) return seals !== null;
  return seals === null || !seals.includes(computeSha256(text));
}

function readSeals(file: string): readonly string[] | null {
  try {
    return readTextIfPresent(sealOf(file))?.split('\n') ?? null;
  } catch {
    return [];
  }
}

function sealOf(file: string): string {
  return path.join(path.dirname(file), 'trust.seal');
}

function unwritable(file: string, cause: unknown): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message: `the trust record ${file} could not be written: ${getErrorMessage(cause)}`,
    hint: 'Check the directory, its owner and the free space, then what `hookline hooks list` says.',
    cause,
  });
}

const WRITABLE_BY_OTHERS = 0o022;

/** Whether nobody but this person, and no workspace, can have written the trust record. */
export function isRecordLocationSafe(record: string, workspaceRoots: readonly string[]): boolean {
  return findLocationProblem(record, workspaceRoots) === null;
}

/** Why the record must not be believed, as the end of a sentence that names it; null if it may. */
export function findLocationProblem(
  record: string,
  workspaceRoots: readonly string[],
): string | null {
  return findEnclosingWorkspaceProblem(record, workspaceRoots) ?? findForeignWriter(record);
}

/** Why a file of the person's own must not be believed because of where it lies; null if it may. */
export function findEnclosingWorkspaceProblem(
  record: string,
  workspaceRoots: readonly string[],
): string | null {
  const places = [path.resolve(record), realPlaceOf(record)];
  for (const root of workspaceRoots.map((workspace) => findRealPath(workspace) ?? workspace)) {
    if (places.some((place) => isInside(root, place))) {
      return `it lies inside the workspace ${JSON.stringify(root)}, which could then trust itself`;
    }
  }
  return null;
}

/** The real path of a file that may not exist yet: that of its nearest directory, and the rest. */
function realPlaceOf(file: string): string {
  const missing: string[] = [];
  for (let place = path.resolve(file); ; place = path.dirname(place)) {
    const real = findRealPath(place);
    if (real !== null) return path.join(real, ...missing);
    if (place === path.dirname(place)) return file;
    missing.unshift(path.basename(place));
  }
}

function findForeignWriter(record: string): string | null {
  const places = new Set([path.dirname(record), path.dirname(realPlaceOf(record)), record]);
  for (const place of places) {
    const problem = findProblemOf(place, record);
    if (problem !== null) return problem;
  }
  return null;
}

function findProblemOf(place: string, record: string): string | null {
  try {
    const stats = statSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return findDanglingLink(place);
    if (place === record && !stats.isFile()) return 'it is not a regular file';
    return findOwnerProblem(place, stats);
  } catch (error) {
    return getErrorMessage(error);
  }
}

function findDanglingLink(place: string): string | null {
  const link = lstatSync(place, { throwIfNoEntry: false });
  return link === undefined ? null : `${JSON.stringify(place)} is a link that leads nowhere`;
}

function findOwnerProblem(place: string, stats: Stats): string | null {
  const user = process.geteuid?.();
  // Without user ids (Windows) the mode bits mean nothing either.
  if (user === undefined) return null;
  if (stats.uid !== user) {
    return `${JSON.stringify(place)} belongs to user ${stats.uid}, not to you (${user})`;
  }
  if ((stats.mode & WRITABLE_BY_OTHERS) === 0) return null;
  return `others may write ${JSON.stringify(place)} (mode ${(stats.mode & 0o777).toString(8)})`;
}
