import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { getErrorCode, getErrorMessage } from '../../../base/errors.ts';
import { findClosestName } from '../../../base/did-you-mean.ts';
import { resolveFrom } from '../../../base/paths.ts';
import { expandHome } from '../../../permissions/rules/home-path.ts';
import type { InputFields } from '../input-fields.ts';

/** What a path contains. `large` is a file of more than the maximum bytes. */
export type PathContent =
  | { readonly is: 'file'; readonly bytes: Buffer }
  | { readonly is: 'large'; readonly size: number }
  | { readonly is: 'absent' }
  | { readonly is: 'directory' }
  | { readonly is: 'unreadable'; readonly why: string };

// Opening a FIFO without O_NONBLOCK would wait for a writer.
export const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The largest file that is read at once and can be edited. */
export const MAX_WHOLE_BYTES = 10 * 1024 * 1024;

/** Never throws and never blocks: pipes and devices are not read. */
export function readPath(file: string, maxBytes: number): PathContent {
  try {
    const stat = statSync(file);
    if (stat.isDirectory()) return { is: 'directory' };
    if (!stat.isFile()) return NOT_REGULAR;
    return stat.size > maxBytes ? { is: 'large', size: stat.size } : readOpened(file, maxBytes);
  } catch (error) {
    return getErrorCode(error) === 'ENOENT'
      ? { is: 'absent' }
      : { is: 'unreadable', why: describeFileError(error) };
  }
}

const NOT_REGULAR: PathContent = {
  is: 'unreadable',
  why: 'it is a device, a pipe or a socket, not a regular file',
};

function readOpened(file: string, maxBytes: number): PathContent {
  const handle = openSync(file, OPEN_FLAGS);
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile()) return NOT_REGULAR;
    const bytes = readAtMost(handle, { expected: stat.size, limit: maxBytes + 1 });
    if (bytes.length > maxBytes) return { is: 'large', size: bytes.length };
    return { is: 'file', bytes };
  } finally {
    closeSync(handle);
  }
}

const CHUNK_BYTES = 64 * 1024;

// The size may be wrong: files below /proc report 0, and another process may be writing.
function readAtMost(handle: number, sizes: { expected: number; limit: number }): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total < sizes.limit) {
    const size = total === 0 ? sizes.expected + 1 : CHUNK_BYTES;
    const chunk = Buffer.allocUnsafe(Math.min(size, sizes.limit - total));
    const read = readSync(handle, chunk);
    if (read === 0) break;
    chunks.push(chunk.subarray(0, read));
    total += read;
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

const ERRORS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EEXIST: 'a part of the path is a file, not a directory',
  EISDIR: 'it is a directory',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links lead in a circle',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
};

/** Describes a file system error without its code. */
export function describeFileError(error: unknown): string {
  return ERRORS[getErrorCode(error) ?? ''] ?? getErrorMessage(error);
}

export function formatIsDirectory(file: string): string {
  return `${file} is a directory, not a file. Use Glob, or ls with Bash, to see what is in it.`;
}

/** The message for the model when a file does not exist. */
export function formatMissingFile(file: string, cwd: string): string {
  const similar = findSimilar(file);
  const note = `File does not exist. Note: your current working directory is ${cwd}.`;
  return similar === null ? note : `${note} Did you mean ${similar}?`;
}

const MAX_SIBLINGS = 2000;

function findSimilar(file: string): string | null {
  const siblings = listSiblings(file);
  const { base, name } = path.parse(file);
  const namesake = siblings.find((sibling) => path.parse(sibling).name === name);
  const similar = namesake ?? findClosestName(base, siblings);
  return similar === null ? null : path.join(path.dirname(file), similar);
}

function listSiblings(file: string): readonly string[] {
  try {
    return readdirSync(path.dirname(file)).slice(0, MAX_SIBLINGS);
  } catch {
    return [];
  }
}

export interface ToolPath {
  /** As the model wrote it. */
  readonly written: string;
  readonly absolute: string;
}

/** What a path of a model is relative to. */
interface PathContext {
  cwd(): string;
  readonly home: string | null;
}

/** Parses a field that names a file or directory. */
export function parsePathField(fields: InputFields, key: string, context: PathContext): ToolPath {
  const written = fields.requiredText(key);
  if (written.includes('\0')) fields.reject(key, 'a path without NUL characters');
  return { written, absolute: resolveToolPath(written, context) };
}

/**
 * Resolves a path written by a model: `~` is the home directory, other paths are relative to the cwd. The
 * result is what permission rules judge, so `..` after a link means the same here as there.
 */
export function resolveToolPath(written: string, context: PathContext): string {
  return resolveFrom(context.cwd(), expandHome(written, context.home));
}
