import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { HooklineError } from '../base/errors.ts';
import { scanArray } from './json-elements.ts';

const PRIVATE_FILE = 0o600;
const CLOSING = '\n]\n';

// O_NOFOLLOW, because the directory may be one in which others can create links; O_NONBLOCK, because a FIFO would wait.
const OPEN_FLAGS =
  constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface ArrayFile {
  readonly file: string;
  /** A larger file is renamed, and a new one started. */
  readonly mostBytes: number;
  /** Names the file that is moved out of the way, because it is too large or no array. */
  readonly nameSetAside: () => string;
}

/** What an append found at the end of the file; null when the file was whole. */
export interface TornEnd {
  readonly text: string;
}

/**
 * Appends to a JSON array by writing over its closing bracket: the file stays an array, and a long one takes no longer
 * than a short one. The caller holds the lock. An end that a killed writer left torn is cut off and returned; nothing
 * before it is touched.
 */
export function appendToArrayFile(
  { file, mostBytes, nameSetAside }: ArrayFile,
  elements: readonly string[],
): TornEnd | null {
  const descriptor = openSync(file, OPEN_FLAGS, PRIVATE_FILE);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) {
      throw new HooklineError('CONFIG_UNWRITABLE', { message: `${file} is not a regular file` });
    }
    if ((stats.mode & 0o777) !== PRIVATE_FILE) fchmodSync(descriptor, PRIVATE_FILE);
    const end = stats.size > mostBytes ? null : findArrayEnd(descriptor, stats.size);
    if (end === null) {
      renameSync(file, nameSetAside());
      writeNewArrayFile(file, elements);
      return null;
    }
    const separator = end.isEmpty ? '\n' : ',\n';
    overwriteEnd(descriptor, end, `${end.opening}${separator}${elements.join(',\n')}${CLOSING}`);
    return end.torn;
  } finally {
    closeSync(descriptor);
  }
}

export function writeNewArrayFile(file: string, elements: readonly string[]): void {
  const text = elements.length === 0 ? '[]\n' : `[\n${elements.join(',\n')}${CLOSING}`;
  writeFileSync(file, text, { mode: PRIVATE_FILE, flag: 'wx' });
}

interface ArrayEnd {
  /** Behind the last whole element, or behind the opening bracket. */
  readonly at: number;
  readonly isEmpty: boolean;
  /** The bracket that a new file still needs. */
  readonly opening: '' | '[';
  readonly torn: TornEnd | null;
}

/** The end of every file whose last element is ours and whole: no torn one ends like that. */
const WHOLE_END = /"__hook_(?:id":"[\w.:-]+"|error_logged":\d+)\}\n\]\n$/;
const END_BYTES = 256;

/** Whether the last element of a file is one of ours, and whole. */
export function isOwnArrayFile(file: string): boolean {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return hasWholeEnd(descriptor, fstatSync(descriptor).size);
  } finally {
    closeSync(descriptor);
  }
}

function hasWholeEnd(descriptor: number, size: number): boolean {
  const length = Math.min(size, END_BYTES);
  return WHOLE_END.test(readBytes(descriptor, size - length, length).toString('latin1'));
}

/** Finds where the next element goes; null when the file holds something that is no array. */
function findArrayEnd(descriptor: number, size: number): ArrayEnd | null {
  if (size === 0) return { at: 0, isEmpty: true, opening: '[', torn: null };
  if (hasWholeEnd(descriptor, size)) {
    return { at: size - CLOSING.length, isEmpty: false, opening: '', torn: null };
  }
  return scanForArrayEnd(readBytes(descriptor, 0, size));
}

/** For a file that another program wrote, or a torn one. */
function scanForArrayEnd(bytes: Buffer): ArrayEnd | null {
  const scan = scanArray(bytes);
  if (scan === null) return null;
  const { elements, closedAt, rest } = scan;
  const isWhole = (span: { start: number; end: number }) =>
    isJson(bytes.toString('utf8', span.start, span.end));
  if (!elements.every(isWhole)) return null;
  if (closedAt !== null && bytes.toString('utf8', closedAt + 1).trim() !== '') return null;
  const isRestWhole = rest !== null && isWhole(rest);
  const last = isRestWhole ? rest : elements.at(-1);
  const torn =
    rest === null || isRestWhole ? null : { text: bytes.toString('utf8', rest.start, rest.end) };
  const at = last === undefined ? bytes.indexOf('[') + 1 : last.end;
  return { at, isEmpty: last === undefined, opening: '', torn };
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readBytes(descriptor: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const count = readSync(descriptor, bytes, done, length - done, from + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

function overwriteEnd(descriptor: number, { at, opening }: ArrayEnd, text: string): void {
  const bytes = Buffer.from(text);
  if (fstatSync(descriptor).size > at + bytes.length) ftruncateSync(descriptor, at);
  try {
    writeBytes(descriptor, bytes, at);
  } catch (error) {
    // The disk is full: the array is closed again where it ended.
    ftruncateSync(descriptor, at);
    if (opening === '') writeBytes(descriptor, Buffer.from(CLOSING), at);
    throw error;
  }
}

function writeBytes(descriptor: number, bytes: Buffer, from: number): void {
  let done = 0;
  while (done < bytes.length) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, from + done);
  }
}
