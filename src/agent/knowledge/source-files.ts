import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import { claudeDirectoryOf, type KnowledgeDirectory, type KnowledgePlaces } from './places.ts';
import { namesIn, readTextFile, type TextReading } from './text-file.ts';

/** Reads skills, commands and sub-agents. Never throws. */
export interface SourceFiles {
  /** The names in a directory of a place, sorted; none when it leads out of the project. */
  names(place: KnowledgeDirectory, directory: string): readonly string[];
  read(place: KnowledgeDirectory, file: string): TextReading;
  /** Why names were left out. */
  readonly notes: readonly string[];
}

const MAX_CHARACTERS = 100_000;
const MAX_ENTRIES = 1000;

/** A repository must not be able to show the model what lies beside it, nor to make it search the disk. */
export function createSourceFiles(places: KnowledgePlaces): SourceFiles {
  const leadsOut = createBoundary(places);
  const notes: string[] = [];
  // For each place: one that is full hides no other.
  const left = new Map<string, number>();

  function bounded(top: string, names: readonly string[]): readonly string[] {
    const before = left.get(top) ?? MAX_ENTRIES;
    const after = before - names.length;
    left.set(top, after);
    if (after < 0 && before >= 0) notes.push(sayFull(top));
    return names.slice(0, Math.max(before, 0));
  }

  return {
    notes,
    names(place, directory) {
      const outside = leadsOut(place, directory);
      if (outside === null) return bounded(place.directory, namesIn(directory));
      notes.push(outside);
      return [];
    },
    read(place, file) {
      const outside = leadsOut(place, file);
      return outside === null ? readTextFile(file, MAX_CHARACTERS) : { text: null, note: outside };
    },
  };
}

function sayFull(top: string): string {
  const most = MAX_ENTRIES.toLocaleString('en');
  return `${top} holds more than ${most} files and directories; the rest is left out`;
}

/** Says where a path of a project leads that is not in the project. What is the person's own leads anywhere. */
function createBoundary(places: KnowledgePlaces) {
  const grounds = groundsOf(places);
  const claude = claudeDirectoryOf(places);
  return ({ source, directory, within }: KnowledgeDirectory, file: string): string | null => {
    if (within !== undefined) return leadsOutOf(within, file);
    // Whoever works in their home has their own directory as that of the project, too.
    const isOwn = claude !== null && isInside(path.resolve(claude), path.resolve(directory));
    if (source !== 'projectSettings' || isOwn) return null;
    const real = findRealPath(file) ?? file;
    return grounds.some((ground) => isInside(ground, real)) ? null : sayOutside(file, real);
  };
}

function leadsOutOf(ground: string, file: string): string | null {
  const real = findRealPath(file) ?? file;
  if (isInside(findRealPath(ground) ?? ground, real)) return null;
  return `${file} is not read: it leads to ${real}, outside of ${ground}`;
}

/** The real places of the workspace. */
export function groundsOf({ roots, startDirectory }: KnowledgePlaces): readonly string[] {
  return [...roots, startDirectory].map((directory) => findRealPath(directory) ?? directory);
}

export function sayOutside(file: string, real: string): string {
  return `${file} is not read: it leads to ${real}, outside of the workspace`;
}
