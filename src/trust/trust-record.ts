import path from 'node:path';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { readTextIfPresent, updatePrivateFile } from '../base/files.ts';
import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import { findRealPath } from '../base/paths.ts';
import type { Binding } from './bind-unit.ts';
import { type BoundEntry, compareText, parseBoundEntry } from './file-map.ts';
import { deleteUnreferencedTexts, storeTexts } from './content-store.ts';
import { findEnclosingWorkspaceProblem, findLocationProblem } from './record-location.ts';
import { ensureKey, findSealProblem, sealText, type TrustFiles } from './record-seal.ts';

/** How a user confirmed that something may run. */
export interface Confirmation {
  /** `command`: trusted with what a command of Hookline wrote or moved, such as `hooks new`. */
  readonly how: 'asked' | 'yes' | 'token' | 'command';
  readonly hasTerminal: boolean;
  /** The command line of the process that ran Hookline; null where it is not known. */
  readonly parent: string | null;
  /** Whether a command with a terminal has told the user about it. */
  readonly isAnnounced?: true;
}

export interface TrustedEntry extends BoundEntry {
  /** Real path of the workspace root. */
  readonly root: string;
  /** ISO 8601. */
  readonly trustedAt: string;
  readonly confirmed?: Confirmation;
}

export interface TrustRecord {
  readonly version: 1;
  readonly entries: readonly TrustedEntry[];
  /** Entries of a record without a valid seal. They trust nothing until they are confirmed again. */
  readonly unconfirmed: readonly TrustedEntry[];
  /** Why the file has no valid seal, so that `entries` is empty; null when it has one. */
  readonly sealProblem: string | null;
}

/** The directory with the texts of trusted files, for `computeChangesSince`. */
export function getTrustObjectsDirectory(record: string): string {
  return path.join(path.dirname(record), 'trust-objects');
}

/** Throws TRUST_RECORD_INVALID when the record must not be used; then nothing is trusted. */
export function readTrustRecord(files: TrustFiles, workspaceRoots: readonly string[]): TrustRecord {
  checkLocation(files.record, workspaceRoots);
  let text = readRecordText(files.record);
  for (let attempt = 1; ; attempt++) {
    const sealProblem = findSealProblem(files, text, workspaceRoots);
    const current = sealProblem === null ? text : readRecordText(files.record);
    // Another process may have replaced record and seal between the two reads.
    if (current === text || attempt === MAX_READS) return parseRecord(files, text, sealProblem);
    text = current;
  }
}

const MAX_READS = 5;

function parseRecord(
  { record: file }: TrustFiles,
  text: string | null,
  sealProblem: string | null,
): TrustRecord {
  const { entries, unconfirmed } = parseEntries(text, file);
  if (sealProblem === null) return { version: 1, entries, unconfirmed, sealProblem };
  return { version: 1, entries: [], unconfirmed: [...entries, ...unconfirmed], sealProblem };
}

/** Like `readTrustRecord`, but returns the error, which a checker accepts instead of the record. */
export function tryReadTrustRecord(
  files: TrustFiles,
  workspaceRoots: readonly string[],
): TrustRecord | HooklineError {
  try {
    return readTrustRecord(files, workspaceRoots);
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

function parseEntries(
  text: string | null,
  file: string,
): Pick<TrustRecord, 'entries' | 'unconfirmed'> {
  if (text === null) return { entries: [], unconfirmed: [] };
  const parsed = parseJson(text);
  if (!parsed.ok) {
    throw createInvalidRecordError(file, `it is not JSON: ${parsed.error}`);
  }
  if (!isRecord(parsed.value)) {
    throw createInvalidRecordError(
      file,
      `it must be an object, found ${getTypeName(parsed.value)}`,
    );
  }
  const { version, entries, unconfirmed = [] } = parsed.value;
  if (version !== 1) {
    throw createInvalidRecordError(file, `version must be 1, found ${getTypeName(version)}`);
  }
  return {
    entries: parseEntryList(entries, 'entries', file),
    unconfirmed: parseEntryList(unconfirmed, 'unconfirmed', file),
  };
}

function parseEntryList(value: unknown, name: string, file: string): readonly TrustedEntry[] {
  if (Array.isArray(value)) {
    return value.map((entry, index) => parseEntry(entry, `${name}[${index}]`, file));
  }
  throw createInvalidRecordError(file, `${name} must be an array, found ${getTypeName(value)}`);
}

function parseEntry(value: unknown, location: string, file: string): TrustedEntry {
  const parsed = parseBoundEntry(value, location);
  if (!parsed.ok) throw createInvalidRecordError(file, parsed.problem);
  const { root, trustedAt, confirmed } = isRecord(value) ? value : {};
  if (typeof root !== 'string' || typeof trustedAt !== 'string') {
    throw createInvalidRecordError(
      file,
      `${location}.root and ${location}.trustedAt must be strings`,
    );
  }
  const confirmation = parseConfirmation(confirmed);
  return dropUndefined({ root, ...parsed.entry, trustedAt, confirmed: confirmation });
}

/** Absent in entries of before, and dropped where its shape is unknown: it informs, and decides nothing. */
function parseConfirmation(value: unknown): Confirmation | undefined {
  if (!isRecord(value)) return undefined;
  const { how, hasTerminal, parent, isAnnounced } = value;
  if (how !== 'asked' && how !== 'yes' && how !== 'token' && how !== 'command') return undefined;
  return {
    how,
    hasTerminal: hasTerminal === true,
    parent: typeof parent === 'string' ? parent : null,
    ...(isAnnounced === true ? { isAnnounced } : {}),
  };
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
  files: TrustFiles,
  bindings: readonly Binding[],
  {
    now,
    guardedRoots = bindings.map(({ root }) => root),
    confirmed,
  }: { now: number; guardedRoots?: readonly string[]; confirmed?: Confirmation },
): Promise<TrustRecord> {
  const trustedAt = new Date(now).toISOString();
  const trusted = bindings.map((binding) => toTrustedEntry(binding, trustedAt, confirmed));
  const replaced = new Set(trusted.map(formatOwnerKey));
  const isKept = (entry: TrustedEntry): boolean => !replaced.has(formatOwnerKey(entry));
  return updateRecord(files, { guardedRoots, bindings }, ({ entries, unconfirmed }) => ({
    entries: [...entries.filter(isKept), ...trusted],
    unconfirmed: unconfirmed.filter(isKept),
  }));
}

function toTrustedEntry(
  { root, id, entry, digest, files }: Binding,
  trustedAt: string,
  confirmed: Confirmation | undefined,
): TrustedEntry {
  return dropUndefined({ root, id, entry, digest, files, trustedAt, confirmed });
}

function formatOwnerKey({ root, id }: TrustedEntry): string {
  return JSON.stringify([root, id]);
}

/** Revokes the trust in these hooks, or in all hooks of the root. */
export async function revokeTrust(
  files: TrustFiles,
  {
    root,
    ids,
    guardedRoots,
  }: { root: string; ids?: readonly string[]; guardedRoots?: readonly string[] },
): Promise<TrustRecord> {
  // A deleted workspace can still be removed from the record, by its former path.
  const real = findRealPath(root) ?? path.resolve(root);
  const isKept = (entry: TrustedEntry): boolean =>
    entry.root !== real || (ids !== undefined && !ids.includes(entry.id));
  return updateRecord(files, { guardedRoots: guardedRoots ?? [real] }, (before) => ({
    entries: before.entries.filter(isKept),
    unconfirmed: before.unconfirmed.filter(isKept),
  }));
}

/** Seals a record that had no valid seal, with nothing trusted. Keeps what it held, to be confirmed again. */
export async function sealRecord(
  files: TrustFiles,
  guardedRoots: readonly string[],
): Promise<TrustRecord> {
  return updateRecord(files, { guardedRoots }, (before) => before);
}

/** Entries that were trusted without a terminal, and that no command with a terminal has told the user about. */
export function listUnannounced({ entries }: TrustRecord): readonly TrustedEntry[] {
  return entries.filter(({ confirmed }) => confirmed !== undefined && isUnannounced(confirmed));
}

/** A token was printed on a terminal, for what was shown there. */
function isUnannounced({ how, hasTerminal, isAnnounced }: Confirmation): boolean {
  return !hasTerminal && how !== 'token' && isAnnounced !== true;
}

/** Records that the user was told about these entries. */
export async function markAnnounced(
  files: TrustFiles,
  announced: readonly TrustedEntry[],
  guardedRoots: readonly string[],
): Promise<TrustRecord> {
  const keys = new Set(announced.map(formatAnnouncementKey));
  return updateRecord(files, { guardedRoots }, ({ entries, unconfirmed }) => ({
    entries: entries.map((entry) =>
      entry.confirmed !== undefined && keys.has(formatAnnouncementKey(entry))
        ? { ...entry, confirmed: { ...entry.confirmed, isAnnounced: true as const } }
        : entry,
    ),
    unconfirmed,
  }));
}

/** A hook that was trusted again meanwhile is to be announced again. */
function formatAnnouncementKey({ root, id, entry, digest, trustedAt }: TrustedEntry): string {
  return JSON.stringify([root, id, entry, digest, trustedAt]);
}

/**
 * Also stores the texts of the bindings, so that a later change can be shown. The text before is sealed along only
 * when it had a valid seal: a crash in between must not trust what nobody confirmed.
 */
async function updateRecord(
  files: TrustFiles,
  {
    guardedRoots,
    bindings = [],
  }: { guardedRoots: readonly string[]; bindings?: readonly Binding[] },
  change: (record: TrustRecord) => Pick<TrustRecord, 'entries' | 'unconfirmed'>,
): Promise<TrustRecord> {
  checkLocation(files.record, guardedRoots);
  checkKeyLocation(files, guardedRoots);
  let written: TrustRecord | null = null;
  let key: Buffer | null = null;
  try {
    await updatePrivateFile(
      files.record,
      (before) => {
        const sealProblem = findSealProblem(files, before, guardedRoots);
        const record = change(parseRecord(files, before, sealProblem));
        const entries = record.entries.toSorted(compareEntries);
        storeBoundTexts(files, bindings, entries);
        written = { ...record, version: 1, entries, sealProblem: null };
        key = ensureKey(files);
        const after = formatRecord(written);
        sealText(files, key, { before: sealProblem === null ? before : null, after });
        return after;
      },
      (after) => {
        if (key !== null) sealText(files, key, { before: null, after });
      },
    );
  } catch (error) {
    throw isHooklineError(error) ? error : createUnwritableError(files.record, error);
  }
  return written ?? readTrustRecord(files, guardedRoots);
}

function checkKeyLocation({ key }: TrustFiles, guardedRoots: readonly string[]): void {
  const problem = findEnclosingWorkspaceProblem(key, guardedRoots);
  if (problem === null) return;
  throw new HooklineError('TRUST_RECORD_INVALID', {
    message: `the key ${key} of the trust record cannot be used: ${problem}`,
    hint: 'Set XDG_STATE_HOME, or HOOKLINE_HOME, to a directory outside every workspace.',
  });
}

function storeBoundTexts(
  { record }: TrustFiles,
  bindings: readonly Binding[],
  entries: readonly TrustedEntry[],
): void {
  const objects = getTrustObjectsDirectory(record);
  for (const binding of bindings) storeTexts(objects, binding);
  deleteUnreferencedTexts(objects, entries);
}

function compareEntries(a: TrustedEntry, b: TrustedEntry): number {
  return compareText(a.root, b.root) || compareText(a.id, b.id) || compareText(a.entry, b.entry);
}

function formatRecord({ version, entries, unconfirmed }: TrustRecord): string {
  const rest = unconfirmed.length === 0 ? {} : { unconfirmed };
  return `${JSON.stringify({ version, entries, ...rest }, null, 2)}\n`;
}

function createUnwritableError(file: string, cause: unknown): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message: `the trust record ${file} could not be written: ${getErrorMessage(cause)}`,
    hint: 'Check the directory, its owner and the free space, then run `hookline hooks list`.',
    cause,
  });
}
