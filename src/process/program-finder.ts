import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The absolute path of a program given by name or path, or null when there is none to run. */
export type FindProgram = (name: string) => string | null;

/** Searches `pathVariable` as the system would, and remembers every answer. */
export function createProgramFinder(
  pathVariable: string | undefined,
  platform: NodeJS.Platform,
  pathExt: string = DEFAULT_PATH_EXT,
): FindProgram {
  const directories = splitPath(pathVariable ?? '', platform);
  const extensions = platform === 'win32' ? splitPathExt(pathExt) : [];
  const answers = new Map<string, string | null>();

  return (name) => {
    const cached = answers.get(name);
    if (cached !== undefined) return cached;
    const places = /[/\\]/.test(name) ? [name] : directories.map((place) => path.join(place, name));
    const candidates = places.flatMap((place) => listSpellings(place, extensions));
    const found = candidates.find(isProgram) ?? null;
    answers.set(name, found);
    return found;
  };
}

// A relative entry, or an empty one, would run a program out of whatever directory is current.
function splitPath(pathVariable: string, platform: NodeJS.Platform): string[] {
  const delimiter = platform === 'win32' ? ';' : ':';
  return pathVariable
    .split(delimiter)
    .map((entry) => entry.replaceAll('"', ''))
    .filter((entry) => path.isAbsolute(entry));
}

/**
 * The directories in which programs that run in `cwd` search for others: unlike Hookline itself, they
 * also search relative entries, and the current directory for an empty one.
 */
export function listSearchDirectories(
  pathVariable: string | undefined,
  cwd: string,
): readonly string[] {
  if (pathVariable === undefined || pathVariable === '') return [];
  const directories = pathVariable.split(path.delimiter).map((entry) => path.resolve(cwd, entry));
  return [...new Set(directories)];
}

function listSpellings(place: string, extensions: readonly string[]): string[] {
  if (extensions.length === 0) return [place];
  const hasExtension = extensions.includes(path.extname(place).toLowerCase());
  const extended = extensions.map((extension) => place + extension);
  return hasExtension ? [place, ...extended] : extended;
}

/** Whether a file can be started. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

const DEFAULT_PATH_EXT = '.COM;.EXE;.BAT;.CMD';

/**
 * The file that Windows would start for a bare name, looked for in one directory only, among the
 * names of its entries; `pathExt` is the variable PATHEXT.
 */
export function findByPathExt(
  directory: string,
  baseName: string,
  listing: readonly string[],
  pathExt: string | undefined,
): string | null {
  const extensions = [...splitPathExt(pathExt ?? DEFAULT_PATH_EXT), '.ps1'];
  for (const extension of extensions) {
    const fileName = `${baseName}${extension}`.toLowerCase();
    const entry = listing.find((name) => name.toLowerCase() === fileName);
    if (entry !== undefined) return path.win32.join(directory, entry);
  }
  return null;
}

function splitPathExt(pathExt: string): string[] {
  const extensions = pathExt.split(';').map((extension) => extension.trim().toLowerCase());
  return extensions.filter((extension) => extension.startsWith('.'));
}
