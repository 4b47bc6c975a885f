import { type Dirent, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { isDataDirectory, isDataFile } from '../../base/files.ts';
import { joinChildPath, findPathInside, findRealPath, isInside } from '../../base/paths.ts';
import { listOutsideImports } from '../../plugins/find/module-text.ts';
import type { Binds } from '../discovery.ts';
import type { NamedPlugin } from './discover.ts';

export interface PluginBinds {
  readonly binds: Binds;
  /** What a person should know of what is not bound. */
  readonly notes: readonly string[];
}

/**
 * What must stay as it is for a decision to trust this plugin: all files of its package; of a file by
 * itself all of its directory; and what either imports from elsewhere by its path.
 */
export function computeBinds(plugin: NamedPlugin): PluginBinds {
  const { entry, root, problem } = plugin;
  const bare = { entry: entry.path, files: [], directories: [] };
  if (problem !== null) return { binds: { ...bare, text: problem }, notes: [] };
  // The person's own are trusted by where they lie.
  if (root === null) return { binds: bare, notes: [] };
  const held = findBoundPlaces(plugin, root);
  const imports = listOutsideImports(entry.file, createBoundTest(held));
  const binds: Binds = {
    entry: entry.path,
    files: [...held.files, ...imports.files],
    directories: held.directories,
    ...(held.apart.length === 0 ? {} : { apart: held.apart }),
    ...(held.isPackage ? { isPackage: true } : {}),
  };
  return { binds, notes: [...held.notes, ...(imports.isCut ? [TOO_MANY_IMPORTS] : [])] };
}

const TOO_MANY_IMPORTS =
  'it imports more files from elsewhere than trust binds: some are not covered';

/** Whether a file is bound because of where it lies. */
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
    return { ...createBoundPlaces(owner.directory, { apart: [], modules }), isPackage: true };
  }
  const directory = path.dirname(entry.path);
  const real = findRealPath(directory) ?? directory;
  const inside = apart.filter((each) => each !== real && isInside(real, each));
  const alone = createBoundPlaces(directory, {
    apart: inside.filter((each) => !isModules(each)),
    modules: inside.filter(isModules),
  });
  if (owner === null) return alone;
  // The package is the workspace itself, of which most has nothing to do with the plugin.
  return {
    ...alone,
    directories: [...alone.directories, ...(owner.skills === null ? [] : [owner.skills])],
    files: [path.join(owner.directory, 'package.json')],
  };
}

function isModules(directory: string): boolean {
  return path.basename(directory) === 'node_modules';
}

interface Others {
  /** Plugins of their own. */
  readonly apart: readonly string[];
  /** What is bound as well, unless it is too much. */
  readonly modules: readonly string[];
}

function createBoundPlaces(directory: string, { apart, modules }: Others): BoundPlaces {
  const isSmall = modules.length === 0 || canBind(findRealPath(directory) ?? directory, apart);
  return {
    isPackage: false,
    directories: [directory],
    files: [],
    apart: isSmall ? apart : [...apart, ...modules],
    notes: isSmall ? [] : ['its node_modules hold more than trust can bind: they are not covered'],
  };
}

/** Directories with modules of others; of those that hold the plugin itself, what lies beside it. */
function findModules(directory: string, entry: string): readonly string[] {
  return listEntries(directory).flatMap((listed): readonly string[] => {
    const place = joinChildPath(directory, listed.name);
    if (!listed.isDirectory()) return [];
    const holdsEntry = isInside(place, entry);
    if (!isModules(place)) return holdsEntry ? findModules(place, entry) : [];
    return holdsEntry ? listBesides(place, entry) : [place];
  });
}

function listBesides(modules: string, entry: string): readonly string[] {
  return listEntries(modules).flatMap((listed): readonly string[] => {
    const place = joinChildPath(modules, listed.name);
    if (!listed.isDirectory()) return [];
    if (!isInside(place, entry)) return [place];
    return listed.name.startsWith('@') ? listBesides(place, entry) : findModules(place, entry);
  });
}

// A little less than trust can bind: it also counts what links lead to.
const MAX_FILES = 1_900;
const MAX_BYTES = 60 * 1024 * 1024;

function canBind(directory: string, apart: readonly string[]): boolean {
  const waiting = [directory];
  let files = 0;
  let bytes = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const listed of listEntries(next)) {
      const place = joinChildPath(next, listed.name);
      if (apart.includes(place)) continue;
      if (listed.isDirectory()) waiting.push(place);
      else bytes += getSize(place);
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
    // Who binds the bytes says that it cannot be read.
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
