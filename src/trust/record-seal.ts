import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { getErrorCode, getErrorMessage, HooklineError } from '../base/errors.ts';
import {
  createPrivateDirectory,
  isNotFoundError,
  readTextIfPresent,
  replacePrivateFileSync,
} from '../base/files.ts';
import { findEnclosingWorkspaceProblem, resolveRealLocation } from './record-location.ts';

/** The trust record, and the key of its seal, which lies elsewhere: whoever copies one has not the other. */
export interface TrustFiles {
  readonly record: string;
  readonly key: string;
}

const KEY_BYTES = 32;
const READABLE_BY_OTHERS = 0o077;

/** A key, or why there is none, as the end of a sentence. */
type KeyResult =
  | { readonly ok: true; readonly key: Buffer }
  | { readonly ok: false; readonly problem: string };

/** Reads the key. One that others may read, or that lies inside a workspace, is not used. */
function readKey({ key: file }: TrustFiles, workspaceRoots: readonly string[]): KeyResult {
  const enclosing = findEnclosingWorkspaceProblem(file, workspaceRoots);
  if (enclosing !== null) return refuseKey(file, enclosing);
  try {
    return readKeyFile(file);
  } catch (error) {
    if (isNotFoundError(error)) return { ok: false, problem: `its key ${file} is missing` };
    return refuseKey(file, getErrorMessage(error));
  }
}

function readKeyFile(file: string): KeyResult {
  // A FIFO in its place must not be waited for.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const problem = findKeyProblem(fstatSync(descriptor));
    if (problem !== null) return refuseKey(file, problem);
    return { ok: true, key: readFileSync(descriptor) };
  } finally {
    closeSync(descriptor);
  }
}

function findKeyProblem(stats: Stats): string | null {
  if (!stats.isFile()) return 'it is not a regular file';
  if (stats.size !== KEY_BYTES) return `it should have ${KEY_BYTES} bytes, found ${stats.size}`;
  const user = process.geteuid?.();
  // Without user ids (Windows) the mode bits mean nothing either.
  if (user === undefined) return null;
  if (stats.uid !== user) return `it belongs to user ${stats.uid}, not to you (${user})`;
  if ((stats.mode & READABLE_BY_OTHERS) === 0) return null;
  return `others may read it (mode ${(stats.mode & 0o777).toString(8)})`;
}

function refuseKey(file: string, why: string): KeyResult {
  return { ok: false, problem: `its key ${file} is ignored: ${why}` };
}

/** Reads the key, and creates it, or replaces one that must not be used. Throws when it cannot be written. */
export function ensureKey(files: TrustFiles): Buffer {
  const found = readKey(files, []);
  if (found.ok) return found.key;
  const temporary = `${files.key}.${process.pid}.tmp`;
  createPrivateDirectory(path.dirname(files.key));
  try {
    writeFileSync(temporary, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx' });
    placeKey(temporary, files.key);
  } finally {
    rmSync(temporary, { force: true });
  }
  const created = readKey(files, []);
  if (created.ok) return created.key;
  throw new HooklineError('CONFIG_UNWRITABLE', {
    message: `the key of the trust record could not be created: ${created.problem}`,
    hint: `Remove ${files.key}, then run \`hookline trust\` again.`,
  });
}

/** Never replaces a key that another process has created meanwhile. */
function placeKey(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    const isCreated = getErrorCode(error) === 'EEXIST' && readKeyFile(file).ok;
    if (!isCreated) renameSync(temporary, file);
  }
}

/** The seal of a record with this text: no other path, and no other key, gives the same. */
function computeSeal(key: Buffer, { record }: TrustFiles, text: string): string {
  const location = resolveRealLocation(record);
  return createHmac('sha256', key).update(`record\0${location}\0`).update(text).digest('hex');
}

/**
 * Writes the seal of the text that is about to be written. The seal of the text before stays until then, or a reader
 * in between, or a crash, would find a record without a seal. A record that is put back later has none.
 */
export function sealText(
  files: TrustFiles,
  key: Buffer,
  { before, after }: { readonly before: string | null; readonly after: string },
): void {
  const texts = before === null ? [after] : [after, before];
  const seals = texts.map((text) => computeSeal(key, files, text));
  replacePrivateFileSync(getSealFile(files), `${seals.join('\n')}\n`);
}

/** Why the text has no valid seal, as the end of a sentence; null when it has one. */
export function findSealProblem(
  files: TrustFiles,
  text: string | null,
  workspaceRoots: readonly string[],
): string | null {
  const seals = readSeals(files);
  if (text === null) return seals === null ? null : 'it was removed by another program';
  if (seals === null) return 'it has no seal: it is of an older version, or from elsewhere';
  const found = readKey(files, workspaceRoots);
  if (!found.ok) return found.problem;
  const seal = Buffer.from(computeSeal(found.key, files, text));
  if (seals.some((each) => isSameSeal(seal, each))) return null;
  return 'its seal does not match: it was changed by another program, restored, or copied from elsewhere';
}

function isSameSeal(seal: Buffer, other: string): boolean {
  const bytes = Buffer.from(other);
  return bytes.length === seal.length && timingSafeEqual(bytes, seal);
}

function readSeals(files: TrustFiles): readonly string[] | null {
  try {
    return readTextIfPresent(getSealFile(files))?.split('\n') ?? null;
  } catch {
    // Something that is no file is no seal either.
    return [];
  }
}

/** Beside the key, so that a copy of the state directory brings none along. */
function getSealFile({ key }: TrustFiles): string {
  return `${key.replace(/\.key$/u, '')}.seal`;
}

const TOKEN_LIFETIME_MS = 10 * 60_000;
const TOKEN = /^([0-9a-z]{1,12})\.([0-9a-f]{64})$/u;

/** A token with which exactly these digests can be trusted for ten minutes. */
export function createTrustToken(
  files: TrustFiles,
  key: Buffer,
  { digests, now }: { readonly digests: readonly string[]; readonly now: number },
): string {
  const expiry = (now + TOKEN_LIFETIME_MS).toString(36);
  return `${expiry}.${signToken(files, key, expiry, digests)}`;
}

/** Why the token does not confirm these digests now, as the end of a sentence; null when it does. */
export function findTokenProblem(
  files: TrustFiles,
  token: string,
  { digests, now }: { readonly digests: readonly string[]; readonly now: number },
): string | null {
  const [, expiry, signature] = TOKEN.exec(token) ?? [];
  if (expiry === undefined || signature === undefined) return 'it is not a token';
  const found = readKey(files, []);
  if (!found.ok) return found.problem;
  const expected = Buffer.from(signToken(files, found.key, expiry, digests));
  if (!isSameSeal(expected, signature)) return 'it was printed for other hooks or other bytes';
  return Number.parseInt(expiry, 36) < now ? 'it has expired' : null;
}

function signToken(
  { record }: TrustFiles,
  key: Buffer,
  expiry: string,
  digests: readonly string[],
): string {
  const subject = JSON.stringify([resolveRealLocation(record), expiry, digests.toSorted()]);
  return createHmac('sha256', key).update(`token\0${subject}`).digest('hex');
}
