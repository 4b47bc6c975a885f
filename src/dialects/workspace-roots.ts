import { readlinkSync } from 'node:fs';
import path from 'node:path';
import { isLink } from '../base/files.ts';
import { findRealPath, isInside } from '../base/paths.ts';

/** The directories that decide whether a file belongs to the user or to a workspace. */
export interface HomeAndRoots {
  /** Null when unknown. */
  readonly home: string | null;
  /** Real paths. */
  readonly workspaceRoots: readonly string[];
}

/**
 * Finds the workspace root that contains the real path of a file, or null: a link in the home
 * directory must not make files of a repository trusted. A root that contains the home directory owns
 * nothing in it.
 */
export function findOwningRoot(
  file: string,
  { home, workspaceRoots }: HomeAndRoots,
): string | null {
  const passedPaths = listPassedPaths(path.resolve(file));
  const isOwner = (root: string): boolean => passedPaths.some((each) => isInside(root, each));
  return workspaceRoots.find((root) => isOwner(root) && !hasHomeInside(root, home)) ?? null;
}

const MAX_LINKS = 40;

/** Lists the real path of a file and every path on the way that is reached through a link. */
function listPassedPaths(file: string): readonly string[] {
  const real = findRealPath(file) ?? file;
  if (real === file) return [real];
  const passedPaths = [real];
  const remainingNames = splitPath(file);
  let directory = path.parse(file).root;
  for (let name = remainingNames.shift(); name !== undefined; name = remainingNames.shift()) {
    const next = path.join(directory, name);
    const target = findLinkTarget(next);
    if (target === null) directory = next;
    else {
      passedPaths.push(next);
      if (passedPaths.length > MAX_LINKS) break;
      const targetPath = path.resolve(directory, target);
      remainingNames.unshift(...splitPath(targetPath));
      directory = path.parse(targetPath).root;
    }
  }
  return passedPaths;
}

function splitPath(file: string): string[] {
  return file
    .slice(path.parse(file).root.length)
    .split(path.sep)
    .filter((name) => name !== '');
}

function findLinkTarget(file: string): string | null {
  try {
    return isLink(file) ? readlinkSync(file) : null;
  } catch {
    return null;
  }
}

function hasHomeInside(root: string, home: string | null): boolean {
  return home !== null && isInside(root, findRealPath(home) ?? home);
}

/** Formats the suffix of a root in ids: empty for the first, else its name, with a number if it repeats. */
export function formatRootSuffix(roots: readonly string[], index: number): string {
  if (index === 0) return '';
  const name = path.basename(roots[index] ?? '');
  const sameName = roots.slice(0, index).filter((root) => path.basename(root) === name).length;
  return sameName === 0 ? `@${name}` : `@${name}~${sameName + 1}`;
}

/**
 * Finds the innermost workspace root that contains the start directory, or that directory itself;
 * real path.
 */
export function findProjectRoot({
  startDirectory,
  workspaceRoots,
}: {
  readonly startDirectory: string;
  readonly workspaceRoots: readonly string[];
}): string {
  const start = findRealPath(startDirectory) ?? path.resolve(startDirectory);
  const holding = workspaceRoots.filter((root) => isInside(root, start));
  return holding.toSorted((one, other) => other.length - one.length)[0] ?? start;
}
