import path from 'node:path';
import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { readTextIfPresent, updatePrivateFile, replacePrivateFileSync } from '../base/files.ts';
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
  /** Whether something else than Hookline changed the file. */
  readonly changedOutside: boolean;
}

/** The directory with the texts of trusted files, for `computeChangesSince`. */
export function getTrustObjectsDirectory(record: string): string {
  return path.join(path.dirname(record), 'trust-objects');
}

/** Throws TRUST_RECORD_INVALID when the record must not be used; then nothing is trusted. */
export function readTrustRecord(file: string, workspaceRoots: readonly string[]): TrustRecord {
  checkLocation(file, workspaceRoots);
  const text = readRecordText(file);
  return { version: 1, entries: parseEntries(text, file), changedOutside: isUnsealed(file, text) };
}

/** Like `readTrustRecord`, but returns the error, which a checker accepts instead of the record. */
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

function checkLocation(file: string, workspaceRoots: readonly string[]): void {
  const problem = findLocationProblem(file, workspaceRoots);
  if (problem === null) return;
  throw new HooklineError('TRUST_RECORD_INVALID', {
    message: `the trust record ${file} is ignored: ${problem}`,
    hint: 'It must be a file of your own, outside every workspace, that only you can write. Set the workspace with --root.',
  });
}

function readRecordText(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch (error) {
    throw createInvalidRecordError(file, getErrorMessage(error));
  }
}

function parseEntries(text: string | null, file: string): readonly TrustedEntry[] {
  if (text === null) return [];
  const parsed = parseJson(text);
  if (!parsed.ok) throw createInvalidRecordError(file, `it is not JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) {
    throw createInvalidRecordError(
      file,
      `it must be an object, found ${getTypeName(parsed.value)}`,
    );
  }
  const { version, entries } = parsed.value;
  if (version !== 1) {
    throw createInvalidRecordError(file, `version must be 1, found ${getTypeName(version)}`);
  }
  if (!Array.isArray(entries)) {
    throw createInvalidRecordError(file, `entries must be an array, found ${getTypeName(entries)}`);
  }
  return entries.map((entry, index) => parseEntry(entry, index, file));
}

function parseEntry(value: unknown, index: number, file: string): TrustedEntry {
  const location = `entries[${index}]`;
  const parsed = parseBoundEntry(value, location);
  if (!parsed.ok) throw createInvalidRecordError(file, parsed.problem);
  const { root, trustedAt } = isRecord(value) ? value : {};
  if (typeof root !== 'string' || typeof trustedAt !== 'string') {
    throw createInvalidRecordError(
      file,
      `${location}.root and ${location}.trustedAt must be strings`,
    );
  }
  return { root, ...parsed.entry, trustedAt };
}

function createInvalidRecordError(file: string, problem: string): HooklineError {
  return new HooklineError('TRUST_RECORD_INVALID', {
    message: `the trust record ${file} is invalid: ${problem}`,
    hint: 'Move it away and trust your hooks again; until then no workspace hook is trusted.',
  });
}

/**
 * Trusts the bytes that were bound and shown, not those that the files may have by now.
 * `guardedRoots` are workspaces that must not hold the record; those of the bindings when absent.
 */
export async function grantTrust(
  file: string,
  bindings: readonly Binding[],
  { now, guardedRoots }: { now: number; guardedRoots?: readonly string[] },
): Promise<TrustRecord> {
  const trustedAt = new Date(now).toISOString();
  const trusted = bindings.map((binding) => toTrustedEntry(binding, trustedAt));
  const replaced = new Set(trusted.map(formatOwnerKey));
  const roots = guardedRoots ?? bindings.map(({ root }) => root);
  return updateRecord(file, roots, bindings, (entries) => [
    ...entries.filter((entry) => !replaced.has(formatOwnerKey(entry))),
    ...trusted,
  ]);
}

function toTrustedEntry(binding: Binding, trustedAt: string): TrustedEntry {
  const { root, id, entry, digest, files } = binding;
  return { root, id, entry, digest, files, trustedAt };
}

function formatOwnerKey({ root, id }: TrustedEntry): string {
  return JSON.stringify([root, id]);
}

/** Revokes the trust in these hooks, or in all hooks of the root. */
export async function revokeTrust(
  file: string,
  {
    root,
    ids,
    guardedRoots,
  }: { root: string; ids?: readonly string[]; guardedRoots?: readonly string[] },
): Promise<TrustRecord> {
  // A deleted workspace can still be removed from the record, by its former path.
  const real = findRealPath(root) ?? path.resolve(root);
  const isRevoked = (entry: TrustedEntry): boolean =>
    entry.root === real && (ids === undefined || ids.includes(entry.id));
  return updateRecord(file, guardedRoots ?? [real], [], (entries) =>
    entries.filter((entry) => !isRevoked(entry)),
  );
}

/** Also stores the texts of the bindings, so that a later change can be shown. */
async function updateRecord(
  file: string,
  guardedRoots: readonly string[],
  bindings: readonly Binding[],
  change: (entries: readonly TrustedEntry[]) => readonly TrustedEntry[],
): Promise<TrustRecord> {
  checkLocation(file, guardedRoots);
  let writtenRecord: TrustRecord | null = null;
  try {
    await updatePrivateFile(file, (before) => {
      const entries = change(parseEntries(before, file)).toSorted(compareEntries);
      const objects = getTrustObjectsDirectory(file);
      for (const binding of bindings) storeTexts(objects, binding);
      deleteUnreferencedTexts(objects, entries);
      writtenRecord = { version: 1, entries, changedOutside: isUnsealed(file, before) };
      return sealText(file, before, formatRecord(writtenRecord));
    });
    await updatePrivateFile(file, (text) => sealText(file, null, text ?? ''));
  } catch (error) {
    throw isHooklineError(error) ? error : createUnwritableError(file, error);
  }
  return writtenRecord ?? readTrustRecord(file, guardedRoots);
}

function compareEntries(a: TrustedEntry, b: TrustedEntry): number {
  return compareText(a.root, b.root) || compareText(a.id, b.id) || compareText(a.entry, b.entry);
}

function formatRecord({ version, entries }: TrustRecord): string {
  return `${JSON.stringify({ version, entries }, null, 2)}\n`;
}

/**
 * Writes the hash of the text that is about to be written. The hash of the text before stays until
 * then, or a reader in between would see a change from outside.
 */
function sealText(file: string, before: string | null, after: string): string {
  const sealed = before === null ? [after] : [after, before];
  replacePrivateFileSync(getSealFile(file), `${sealed.map(computeSha256).join('\n')}\n`);
  return after;
}

function isUnsealed(file: string, text: string | null): boolean {
  const seals = readSeals(file);
  if (text === null) return seals !== null;
  return seals === null || !seals.includes(computeSha256(text));
}

function readSeals(file: string): readonly string[] | null {
  try {
    return readTextIfPresent(getSealFile(file))?.split('\n') ?? null;
  } catch {
    return [];
  }
}

function getSealFile(file: string): string {
  return path.join(path.dirname(file), 'trust.seal');
}

function createUnwritableError(file: string, cause: unknown): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message: `the trust record ${file} could not be written: ${getErrorMessage(cause)}`,
    hint: 'Check the directory, its owner and the free space, then run `hookline hooks list`.',
    cause,
  });
}

const WRITABLE_BY_OTHERS = 0o022;

/** Whether only this user, and no workspace, can have written the trust record. */
export function isRecordLocationSafe(record: string, workspaceRoots: readonly string[]): boolean {
  return findLocationProblem(record, workspaceRoots) === null;
}

/** Why the record must not be used, as the end of a sentence that names it; null if it may. */
export function findLocationProblem(
  record: string,
  workspaceRoots: readonly string[],
): string | null {
  return findEnclosingWorkspaceProblem(record, workspaceRoots) ?? findForeignWriter(record);
}

/** Why the location of a file of the user forbids its use; null if it does not. */
export function findEnclosingWorkspaceProblem(
  record: string,
  workspaceRoots: readonly string[],
): string | null {
  const paths = [path.resolve(record), resolveRealLocation(record)];
  for (const root of workspaceRoots.map((workspace) => findRealPath(workspace) ?? workspace)) {
    if (paths.some((location) => isInside(root, location))) {
      return `it lies inside the workspace ${JSON.stringify(root)}, which could then trust itself`;
    }
  }
  return null;
}

/** The real path of a file that may not exist: of its nearest existing directory, and the rest. */
function resolveRealLocation(file: string): string {
  const missing: string[] = [];
  for (let location = path.resolve(file); ; location = path.dirname(location)) {
    const real = findRealPath(location);
    if (real !== null) return path.join(real, ...missing);
    if (location === path.dirname(location)) return file;
    missing.unshift(path.basename(location));
  }
}

function findForeignWriter(record: string): string | null {
  const paths = new Set([path.dirname(record), path.dirname(resolveRealLocation(record)), record]);
  for (const location of paths) {
    const problem = findPathProblem(location, record);
    if (problem !== null) return problem;
  }
  return null;
}

function findPathProblem(location: string, record: string): string | null {
  try {
    const stats = statSync(location, { throwIfNoEntry: false });
    if (stats === undefined) return findDanglingLink(location);
    if (location === record && !stats.isFile()) return 'it is not a regular file';
    return findOwnerProblem(location, stats);
  } catch (error) {
    return getErrorMessage(error);
  }
}

function findDanglingLink(location: string): string | null {
  const link = lstatSync(location, { throwIfNoEntry: false });
  return link === undefined ? null : `${JSON.stringify(location)} is a dangling link`;
}

function findOwnerProblem(location: string, stats: Stats): string | null {
  const user = process.geteuid?.();
  // Without user ids (Windows) the mode bits mean nothing either.
  if (user === undefined) return null;
  if (stats.uid !== user) {
    return `${JSON.stringify(location)} belongs to user ${stats.uid}, not to you (${user})`;
  }
  if ((stats.mode & WRITABLE_BY_OTHERS) === 0) return null;
  return `others may write ${JSON.stringify(location)} (mode ${(stats.mode & 0o777).toString(8)})`;
}
