import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import { findLinkedDirectory, type TrustUnit } from '../collect.ts';

export interface RealPaths {
  readonly root: string;
  readonly entry: string;
}

export function resolveRealPaths(unit: TrustUnit): RealPaths {
  return {
    root: findRealPath(unit.root) ?? unit.root,
    entry: findRealPath(unit.entry) ?? unit.entry,
  };
}

/** The directories that what a hook says may be relative to. */
export function listBaseDirectories(unit: TrustUnit, real: RealPaths): ReadonlySet<string> {
  return new Set([real.root, path.dirname(unit.entry), path.dirname(real.entry)]);
}

/** Whether a file is bound. */
export function createBoundFileCheck(unit: TrustUnit, real: RealPaths): (file: string) => boolean {
  const entries = unit.text === undefined ? [real.entry] : [];
  const named = new Set([...entries, ...unit.files].map((file) => findRealPath(file) ?? file));
  const isInBound = createBoundDirectoryCheck(unit, real);
  return (file) => named.has(file) || isInBound(file);
}

/** Whether a file or directory lies in a directory that is bound as a whole, or is one. */
export function createBoundDirectoryCheck(
  unit: TrustUnit,
  real: RealPaths,
): (place: string) => boolean {
  const linked = unit.text === undefined ? findLinkedDirectory(unit, real) : null;
  const directories = [...unit.directories, ...(linked === null ? [] : [linked])]
    .map((directory) => findRealPath(directory) ?? directory)
    .filter((directory) => isInside(real.root, directory) && directory !== real.root);
  const isApart = (place: string): boolean =>
    unit.apart?.some((directory) => isInside(directory, place)) === true;
  return (place) => directories.some((directory) => isBoundIn(directory, place)) && !isApart(place);
}

function isBoundIn(directory: string, file: string): boolean {
  const inside = path.relative(directory, file);
  return isInside(directory, file) && !inside.split(path.sep).includes('.git');
}
