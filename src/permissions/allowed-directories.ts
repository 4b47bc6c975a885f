import path from 'node:path';
import { isInside } from '../base/paths.ts';
import { expandHome, resolveTargetPath } from './rules/path-pattern.ts';

/** The directories that the agent may read in, and with approval write: workspace roots and added ones. */
export interface AllowedDirectories {
  /** Links are resolved; a relative path is relative to `cwd`. */
  contains(file: string, cwd: string): boolean;
  directories(): readonly string[];
  /** Resolves a relative directory against the directory that the session started in. */
  resolve(directory: string): string;
  add(directory: string): void;
  remove(directory: string): void;
}

export function createAllowedDirectories(
  sessionDirectory: string,
  home: string | null,
  roots: readonly string[],
  directories: readonly string[],
): AllowedDirectories {
  const toAbsolute = (file: string, cwd: string): string | null => {
    const expanded = expandHome(file, home);
    // `~user` is the home of another user, and `~` is unknown without a home directory.
    return expanded.startsWith('~') ? null : path.resolve(cwd, expanded);
  };
  const resolveDirectory = (directory: string): string =>
    toAbsolute(directory, sessionDirectory) ?? directory;
  const added = new Set(directories.map(resolveDirectory));
  return {
    contains(file, cwd) {
      const absolutePath = toAbsolute(file, cwd);
      if (absolutePath === null || absolutePath.includes('\0')) return false;
      const target = findTarget(absolutePath);
      if (target === null) return false;
      return [...roots, ...added].some((directory) =>
        isInside(findTarget(directory) ?? directory, target),
      );
    },
    directories: () => [...added],
    resolve: resolveDirectory,
    add: (directory) => void added.add(resolveDirectory(directory)),
    remove: (directory) => void added.delete(resolveDirectory(directory)),
  };
}

/** The real path; null when a directory on the way is not readable. */
function findTarget(file: string): string | null {
  try {
    return resolveTargetPath(file);
  } catch {
    return null;
  }
}
