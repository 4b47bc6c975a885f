import { type Dirent, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { isDataDirectory, isDataFile } from '../../base/files.ts';
import { joinChildPath, findPathInside, findRealPath, isInside } from '../../base/paths.ts';
import { listOutsideImports } from '../../plugins/find/module-text.ts';
import type { Binds } from '../discovery.ts';
import type { NamedPlugin } from './find-plugins.ts';

/**
 * Computes what the trust in a plugin depends on: all files of its package, or of its directory when
 * it is a single file, and the files outside that it imports by path. The notes warn of files that trust
 * does not cover.
 */
export function computeBinds(plugin: NamedPlugin): {
  readonly binds: Binds;
  readonly notes: readonly string[];
} {
  const { entry, root, problem } = plugin;
  const bare = { entry: entry.path, files: [], directories: [] };
  if (problem !== null) return { binds: { ...bare, text: problem }, notes: [] };
  // The user's own plugins are trusted by their place.
  if (root === null) return { binds: bare, notes: [] };
  const boundPlaces = findBoundPlaces(plugin, root);
  const imports = listOutsideImports(entry.file, createBoundTest(boundPlaces));
  const binds: Binds = {
    entry: entry.path,
    files: [...boundPlaces.files, ...imports.files],
    directories: boundPlaces.directories,
    ...(boundPlaces.apart.length === 0 ? {} : { apart: boundPlaces.apart }),
    ...(boundPlaces.isPackage ? { isPackage: true } : {}),
  };
  return { binds, notes: [...boundPlaces.notes, ...(imports.isCut ? [TOO_MANY_IMPORTS] : [])] };
}

const TOO_MANY_IMPORTS = 'it imports more outside files than trust can bind: some are not covered';

/** Creates a test whether a file is in a covered directory. */
function createBoundTest({
  directories,
  apart,
  isPackage,
}: BoundPlaces): (file: string) => boolean {
  const real = directories.map((each) => findRealPath(each) ?? each);
  return (file) => {
    const within = real.map((each) => findPathInside(each, file)).find((each) => each !== null);
    if (within === undefined || apart.some((each) => isInside(each, file))) return false;
    const above = within.split(path.sep).slice(0, -1);
    return !isDataFile(path.basename(file)) && (isPackage || !above.some(isDataDirectory));
  };
}

interface BoundPlaces {
  readonly isPackage: boolean;
  readonly directories: readonly string[];
  readonly files: readonly string[];
  readonly apart: readonly string[];
  readonly notes: readonly string[];
}

function findBoundPlaces({ entry, apart }: NamedPlugin, root: string): BoundPlaces {
  const owner = entry.package;
  if (owner !== null && isInside(root, owner.directory) && owner.directory !== root) {
    const modules = findModules(owner.directory, entry.file);
    return { ...createBoundPlaces(owner.directory, [], modules), isPackage: true };
  }
  const directory = path.dirname(entry.path);
  const real = findRealPath(directory) ?? directory;
  const inside = apart.filter((each) => each !== real && isInside(real, each));
  const others = inside.filter((each) => !isModules(each));
  const alone = createBoundPlaces(directory, others, inside.filter(isModules));
  if (owner === null) return alone;
  // The package is the workspace itself, and most of it does not belong to the plugin.
  return {
    ...alone,
    directories: [...alone.directories, ...(owner.skills === null ? [] : [owner.skills])],
    files: [path.join(owner.directory, 'package.json')],
  };
}

function isModules(directory: string): boolean {
  return path.basename(directory) === 'node_modules';
}

/** `apart` are directories of other plugins; `modules` are covered too, unless there are too many files. */
function createBoundPlaces(
  directory: string,
  apart: readonly string[],
  modules: readonly string[],
): BoundPlaces {
  const isSmall = modules.length === 0 || canBind(findRealPath(directory) ?? directory, apart);
  return {
    isPackage: false,
    directories: [directory],
    files: [],
    apart: isSmall ? apart : [...apart, ...modules],
    notes: isSmall
      ? []
      : ['its node_modules have more files than trust can bind: they are not covered'],
  };
}

/** Finds directories of installed modules; when one contains the plugin itself, the modules beside it. */
function findModules(directory: string, entry: string): readonly string[] {
  return listEntries(directory).flatMap((listed): readonly string[] => {
    const childPath = joinChildPath(directory, listed.name);
    if (!listed.isDirectory()) return [];
    const holdsEntry = isInside(childPath, entry);
    if (!isModules(childPath)) return holdsEntry ? findModules(childPath, entry) : [];
    return holdsEntry ? listBesides(childPath, entry) : [childPath];
  });
}

function listBesides(modules: string, entry: string): readonly string[] {
  return listEntries(modules).flatMap((listed): readonly string[] => {
    const childPath = joinChildPath(modules, listed.name);
    if (!listed.isDirectory()) return [];
    if (!isInside(childPath, entry)) return [childPath];
    return listed.name.startsWith('@')
      ? listBesides(childPath, entry)
      : findModules(childPath, entry);
  });
}

// A little less than the limit of trust, which also counts targets of links.
const MAX_FILES = 1_900;
const MAX_BYTES = 60 * 1024 * 1024;

function canBind(directory: string, apart: readonly string[]): boolean {
  const waiting = [directory];
  let files = 0;
  let bytes = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const listed of listEntries(next)) {
      const childPath = joinChildPath(next, listed.name);
      if (apart.includes(childPath)) continue;
      if (listed.isDirectory()) waiting.push(childPath);
      else bytes += getSize(childPath);
      files += 1;
    }
    if (files > MAX_FILES || bytes > MAX_BYTES) return false;
  }
  return true;
}

function listEntries(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // The code that hashes the files reports that it cannot be read.
    return [];
  }
}

function getSize(file: string): number {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}
