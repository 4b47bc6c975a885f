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
import { getErrorMessage } from '../../base/errors.ts';
import { joinChildPath } from '../../base/paths.ts';
import type { HookTexts } from './tool-mentions.ts';

/** The bytes of a file up to a limit, or why it cannot be read. */
export type FileStart = { readonly bytes: Buffer; readonly isCut: boolean } | string;

const MAX_BYTES = 1024 * 1024;
// Compiled programs are searched as a whole: their strings stand behind megabytes of code.
const MAX_PROGRAM_BYTES = 128 * MAX_BYTES;

// A FIFO that took the file's place would otherwise wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads a regular file, at most its first megabyte, or all of a compiled program. */
export function readFileStart(file: string): FileStart {
  try {
    const descriptor = openSync(file, OPEN_FLAGS);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return 'it is not a regular file';
      const start = readBytes(descriptor, Math.min(stats.size, MAX_BYTES));
      if (stats.size <= MAX_BYTES || !isBinary(start)) {
        return { bytes: start, isCut: stats.size > MAX_BYTES };
      }
      const bytes = readBytes(descriptor, Math.min(stats.size, MAX_PROGRAM_BYTES));
      return { bytes, isCut: stats.size > MAX_PROGRAM_BYTES };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return getErrorMessage(error);
  }
}

function readBytes(descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, size, 0));
}

export function isBinary(bytes: Buffer): boolean {
  return bytes.includes(0);
}

/** A file beside a hook that the hook may load. */
interface NeighbourFile {
  readonly text: string;
  /** Whether a part of it cannot be read as text. */
  readonly isPartial: boolean;
}

const MAX_FILES = 64;
const MAX_DEPTH = 3;
const SKIPPED_DIRECTORIES = new Set(['node_modules', '.git', '__pycache__']);
// Written for people, not for the hook.
const DOCUMENT =
  /(?:\.(?:md|markdown|rst|adoc|log|bak|orig|example|sample|disabled)|~|^LICEN[CS]E|^README.*)$/i;

/**
 * Reads what hooks may load from their own directory. A file that has not changed since the last time is
 * not read again.
 */
export class HookTextReader {
  readonly #files = new Map<string, { readonly state: string; readonly file: NeighbourFile }>();

  /**
   * Reads those of the files that a hook's text names, directly or through another one. `others` are
   * files that it may load although it does not name them.
   */
  read(own: string, files: readonly string[], others: readonly string[] = files): HookTexts {
    const helpers = this.#readHelpers(own, files);
    const unnamed = others.filter((file) => !helpers.has(file)).slice(0, MAX_FILES);
    return {
      own,
      helpers: [...helpers.values()].map(({ text }) => text),
      readOthers: () => unnamed.map((file) => this.#readFile(file).text),
      isPartial: [...helpers.values()].some(({ isPartial }) => isPartial),
    };
  }

  #readHelpers(own: string, files: readonly string[]): ReadonlyMap<string, NeighbourFile> {
    const helpers = new Map<string, NeighbourFile>();
    const texts = [own];
    for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
      const words = new Set(text.split(/[^\w-]+/u));
      for (const file of files) {
        if (helpers.has(file) || !namesFile(text, words, file)) continue;
        const helper = this.#readFile(file);
        helpers.set(file, helper);
        texts.push(helper.text);
      }
    }
    return helpers;
  }

  #readFile(file: string): NeighbourFile {
    const state = readFileState(file);
    if (state === null) return UNREADABLE;
    const cached = this.#files.get(file);
    if (cached?.state === state) return cached.file;
    const neighbour = readNeighbour(file);
    this.#files.set(file, { state, file: neighbour });
    return neighbour;
  }
}

const UNREADABLE: NeighbourFile = { text: '', isPartial: true };

/** Describes the state of a regular file; null for anything else, such as a FIFO or a loop of links. */
function readFileState(file: string): string | null {
  try {
    const stats = statSync(file);
    const { ino, size, mtimeMs, ctimeMs } = stats;
    return stats.isFile() ? [ino, size, mtimeMs, ctimeMs].join(' ') : null;
  } catch {
    return null;
  }
}

function readNeighbour(file: string): NeighbourFile {
  const start = readFileStart(file);
  if (typeof start === 'string' || isBinary(start.bytes)) return UNREADABLE;
  return { text: start.bytes.toString('utf8'), isPartial: start.isCut };
}

/** Lists files that hooks of a directory may load, in it and below it; what cannot be listed has none. */
export function listNeighbours(directory: string, depth = MAX_DEPTH): string[] {
  return listEntries(directory).flatMap((entry) => {
    const file = joinChildPath(directory, entry.name);
    if (!entry.isDirectory()) return DOCUMENT.test(entry.name) ? [] : [file];
    return depth === 0 || SKIPPED_DIRECTORIES.has(entry.name)
      ? []
      : listNeighbours(file, depth - 1);
  });
}

function listEntries(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true }).toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    );
  } catch {
    return [];
  }
}

/** Whether a text names a file: `. "$here/lib.sh"`, `import lib`, `from lib.rules import x`. */
function namesFile(text: string, words: ReadonlySet<string>, file: string): boolean {
  const { base, name } = path.parse(file);
  return text.includes(base) || words.has(name);
}
