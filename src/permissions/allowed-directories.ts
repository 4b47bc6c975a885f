import path from 'node:path';
import { isInside } from '../base/paths.ts';
import { expandHome, resolveTargetPath } from './rules/path-pattern.ts';

/** Where the agent may read, and with leave write: the workspace and the directories added to it. */
export interface AllowedDirectories {
  /** By where the path really leads; a relative one is relative to `cwd`. */
  contains(file: string, cwd: string): boolean;
  directories(): readonly string[];
  /** A directory as it is meant from where the session began. */
  resolve(directory: string): string;
  add(directory: string): void;
  remove(directory: string): void;
}

export interface AreaOptions {
  readonly roots: readonly string[];
  readonly directories: readonly string[];
  readonly cwd: string;
  readonly home: string | null;
}

export function createAllowedDirectories({
  roots,
  directories,
  cwd: start,
  home,
}: AreaOptions): AllowedDirectories {
  const absolute = (file: string, cwd: string): string | null => {
    const expanded = expandHome(file, home);
    // `~somebody` is another's home, and `~` without a known home could be anywhere.
    return expanded.startsWith('~') ? null : path.resolve(cwd, expanded);
  };
  const settle = (directory: string): string => absolute(directory, start) ?? directory;
  const added = new Set(directories.map(settle));
  return {
    contains(file, cwd) {
      const full = absolute(file, cwd);
      if (full === null || full.includes('\0')) return false;
      const target = findTarget(full);
      if (target === null) return false;
      return [...roots, ...added].some((place) => isInside(findTarget(place) ?? place, target));
    },
    directories: () => [...added],
    resolve: settle,
    add: (directory) => void added.add(settle(directory)),
    remove: (directory) => void added.delete(settle(directory)),
  };
}

/** Where a path leads; null when that cannot be looked at. */
function findTarget(file: string): string | null {
  try {
    return resolveTargetPath(file);
  } catch {
    return null;
  }
}
