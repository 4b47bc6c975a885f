import { accessSync, constants, type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { findRealPath } from './paths.ts';

export type FileKind = 'absent' | 'directory' | 'file' | 'link' | 'other';

/**
 * Asks the file system and remembers what it answered. To ask again whether it would answer the same
 * takes a small part of the time that it takes to compute something from the answers, and misses no
 * change, as a comparison of times could.
 */
export class ObservedFiles {
  readonly #kinds = new Map<string, FileKind>();
  readonly #realPaths = new Map<string, string | null>();
  readonly #writable = new Map<string, boolean>();
  readonly #texts = new Map<string, string | null>();
  readonly #entries = new Map<string, string>();

  /** Links are not followed; what cannot be reached counts as absent. */
  readKind(file: string): FileKind {
    return remember(this.#kinds, file, readKind);
  }

  /** Null when nothing readable is there. */
  findRealPath(file: string): string | null {
    return remember(this.#realPaths, file, findRealPath);
  }

  /** Whether this user may create entries in a directory. */
  isWritable(directory: string): boolean {
    return remember(this.#writable, directory, isWritable);
  }

  /** The text of a regular file of moderate size; null for anything else. */
  readText(file: string): string | null {
    return remember(this.#texts, file, readText);
  }

  /** The names of the files and directories in a directory, links and special files left out; empty when it cannot be read. */
  listEntries(directory: string): readonly string[] {
    return remember(this.#entries, directory, joinEntries).split('\0').filter(isName);
  }

  /** Whether every answer would be the same now. */
  areUnchanged(): boolean {
    return (
      areSame(this.#kinds, readKind) &&
      areSame(this.#realPaths, findRealPath) &&
      areSame(this.#writable, isWritable) &&
      areSame(this.#texts, readText) &&
      areSame(this.#entries, joinEntries)
    );
  }
}

/** Computes a value from files again only when its key or an answer about one of the files has changed. */
export class FileMemo<Value> {
  #last: { readonly key: string; readonly files: ObservedFiles; readonly value: Value } | null =
    null;

  compute(key: string, computeAnew: (files: ObservedFiles) => Value): Value {
    if (this.#last?.key === key && this.#last.files.areUnchanged()) return this.#last.value;
    const files = new ObservedFiles();
    const value = computeAnew(files);
    this.#last = { key, files, value };
    return value;
  }
}

function remember<Answer>(
  answers: Map<string, Answer>,
  file: string,
  ask: (file: string) => Answer,
): Answer {
  const known = answers.get(file);
  if (known !== undefined) return known;
  const answer = ask(file);
  answers.set(file, answer);
  return answer;
}

function areSame<Answer>(
  answers: ReadonlyMap<string, Answer>,
  ask: (file: string) => Answer,
): boolean {
  for (const [file, answer] of answers) if (ask(file) !== answer) return false;
  return true;
}

function readKind(file: string): FileKind {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats === undefined ? 'absent' : getKind(stats);
  } catch {
    return 'absent';
  }
}

function getKind(entry: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>): FileKind {
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isFile() ? 'file' : 'other';
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const MAX_TEXT_BYTES = 1024 * 1024;

function readText(file: string): string | null {
  try {
    const stats = lstatSync(file);
    return stats.isFile() && stats.size <= MAX_TEXT_BYTES ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}

/** One text, because texts are compared by their value; no name contains the separator. */
function joinEntries(directory: string): string {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    const plain = entries.filter((entry) => entry.isDirectory() || entry.isFile());
    return plain.map((entry) => entry.name).join('\0');
  } catch {
    return '';
  }
}

function isName(text: string): boolean {
  return text !== '';
}
