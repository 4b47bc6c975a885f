import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import {
  resolveClaudeDirectory,
  type InstructionDirectory,
  type InstructionPaths,
} from './instruction-paths.ts';
import { readdirSync } from 'node:fs';
import { isDirectory, isLink } from '../../base/files.ts';
import { truncateText } from '../../base/json.ts';
import { lookInto, type Found } from '../tools/files/look-into.ts';
import { decodeText } from '../tools/files/text-file.ts';

/** Reads skills, commands and sub-agents. Never throws. */
export interface SourceFiles {
  /** The names in a directory of a place, sorted; none when it leads out of the project. */
  listNames(place: InstructionDirectory, directory: string): readonly string[];
  read(place: InstructionDirectory, file: string): TextReading;
  /** Why names were left out. */
  readonly notes: readonly string[];
}

const MAX_CHARACTERS = 100_000;
const MAX_ENTRIES = 1000;

/** A repository must not be able to show the model what lies beside it, nor to make it search the disk. */
export function createSourceFiles(places: InstructionPaths): SourceFiles {
  const leadsOut = createBoundaryCheck(places);
  const notes: string[] = [];
  // For each place: one that is full hides no other.
  const left = new Map<string, number>();

  function bounded(top: string, names: readonly string[]): readonly string[] {
    const before = left.get(top) ?? MAX_ENTRIES;
    const after = before - names.length;
    left.set(top, after);
    if (after < 0 && before >= 0) notes.push(formatTooManyNote(top));
    return names.slice(0, Math.max(before, 0));
  }

  return {
    notes,
    listNames(place, directory) {
      const outside = leadsOut(place, directory);
      if (outside === null) return bounded(place.directory, listFileNames(directory));
      notes.push(outside);
      return [];
    },
    read(place, file) {
      const outside = leadsOut(place, file);
      return outside === null ? readTextFile(file, MAX_CHARACTERS) : { text: null, note: outside };
    },
  };
}

function formatTooManyNote(top: string): string {
  const most = MAX_ENTRIES.toLocaleString('en');
  return `${top} holds more than ${most} files and directories; the rest is left out`;
}

/** Says where a path of a project leads that is not in the project. What is the person's own leads anywhere. */
function createBoundaryCheck(places: InstructionPaths) {
  const grounds = resolveWorkspaceRoots(places);
  const claude = resolveClaudeDirectory(places);
  return ({ source, directory, within }: InstructionDirectory, file: string): string | null => {
    if (within !== undefined) return checkInside(within, file);
    // Whoever works in their home has their own directory as that of the project, too.
    const isOwn = claude !== null && isInside(path.resolve(claude), path.resolve(directory));
    if (source !== 'projectSettings' || isOwn) return null;
    const real = findRealPath(file) ?? file;
    return grounds.some((ground) => isInside(ground, real)) ? null : formatOutsideNote(file, real);
  };
}

function checkInside(ground: string, file: string): string | null {
  const real = findRealPath(file) ?? file;
  if (isInside(findRealPath(ground) ?? ground, real)) return null;
  return `${file} is not read: it leads to ${real}, outside of ${ground}`;
}

/** The real places of the workspace. */
export function resolveWorkspaceRoots({
  roots,
  startDirectory,
}: InstructionPaths): readonly string[] {
  return [...roots, startDirectory].map((directory) => findRealPath(directory) ?? directory);
}

export function formatOutsideNote(file: string, real: string): string {
  return `${file} is not read: it leads to ${real}, outside of the workspace`;
}

/** Neither text nor note: there is no such file. */
export interface TextReading {
  readonly text: string | null;
  /** What a person should know: why there is no text, or that it was cut. */
  readonly note: string | null;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a text that is written for a model, at most so many characters of it. Never throws. */
export function readTextFile(file: string, maxCharacters: number): TextReading {
  const found = lookInto(file, MAX_BYTES);
  if (found.is === 'absent' || !isDirectory(path.dirname(file))) return describeAbsentFile(file);
  const text = found.is === 'file' ? (decodeText(found.bytes)?.text ?? null) : null;
  if (text === null) return { text, note: `${file} is not read: ${explainUnreadable(found)}` };
  if (text.length <= maxCharacters) return { text, note: null };
  const limit = maxCharacters.toLocaleString('en');
  return {
    text: truncateText(text, maxCharacters),
    note: `${file} is longer than ${limit} characters; the rest is left out`,
  };
}

/** The names in a directory, sorted; none when it cannot be looked at. */
export function listFileNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}

function describeAbsentFile(file: string): TextReading {
  return { text: null, note: isLink(file) ? `${file} is a link to nothing` : null };
}

function explainUnreadable(found: Found): string {
  if (found.is === 'large') return 'it is larger than 4 MiB';
  if (found.is === 'directory') return 'it is a directory';
  return found.is === 'unreadable' ? found.why : 'it is not text';
}
