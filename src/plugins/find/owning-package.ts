import path from 'node:path';
import { isDirectory } from '../../base/files.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import type { PluginPackage } from '../entry.ts';
import {
  type DeclaredEntry,
  type PackageReading,
  type PluginPackageJson,
  readPackage,
} from './read-package.ts';

export interface Declaration {
  readonly json: PluginPackageJson;
  readonly declared: DeclaredEntry;
}

/** The nearest package above a file that names it as a plugin; real paths. */
export function findDeclaration(
  file: string,
  isEnd: (directory: string) => boolean,
  read: PackageReader = readPackage,
): Declaration | null {
  let directory = path.dirname(file);
  while (!isEnd(directory)) {
    const json = read(directory);
    const declared =
      json.kind === 'package'
        ? json.declared.find((each) => (findRealPath(each.file) ?? each.file) === file)
        : undefined;
    if (json.kind === 'package' && declared !== undefined) return { json, declared };
    const parent = path.dirname(directory);
    if (parent === directory) return null;
    directory = parent;
  }
  return null;
}

type PackageReader = (directory: string) => PackageReading;

const LEVELS = 4;

/**
 * Finds the package that a file found by itself belongs to: it may lie deep in it, as in
 * `.cline/plugins`. Reads each package.json once.
 */
export function createDeclarationFinder(): (file: string) => Declaration | null {
  const known = new Map<string, PackageReading>();
  const read: PackageReader = (directory) => {
    const json = known.get(directory) ?? readPackage(directory);
    known.set(directory, json);
    return json;
  };
  return (file) => {
    let levels = 0;
    return findDeclaration(file, () => ++levels > LEVELS, read);
  };
}

/** `directory` holds all of the package, also where an installer put something around it. */
export function packageOf(owner: PluginPackageJson, directory: string): PluginPackage {
  const own = findRealPath(owner.directory) ?? owner.directory;
  const copy = path.join(directory, 'package');
  return {
    directory,
    name: owner.name,
    version: owner.version ?? (own === directory ? versionIn(copy) : null),
    skills: findSkills(own === directory ? [own, copy] : [own], directory),
    ...(own === directory && isBare(owner, copy) ? { isBare: true } : {}),
  };
}

function isBare({ declared }: PluginPackageJson, copy: string): boolean {
  const isAround =
    declared.length > 0 && declared.every(({ file }) => isInside(copy, findRealPath(file) ?? file));
  return isAround && findRealPath(path.join(copy, 'package.json')) === null;
}

function versionIn(directory: string): string | null {
  const json = readPackage(directory);
  return json.kind === 'broken' ? null : json.version;
}

/** A link out of the package would lend somebody else's texts its trust. */
function findSkills(homes: readonly string[], directory: string): string | null {
  const places = homes.map((home) => findRealPath(path.join(home, 'skills')));
  return places.find((each) => isSkills(each, directory)) ?? null;
}

function isSkills(place: string | null, directory: string): place is string {
  return place !== null && isInside(directory, place) && isDirectory(place);
}
