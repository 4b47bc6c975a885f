import path from 'node:path';

export const DEFAULT_PATH_EXT = '.COM;.EXE;.BAT;.CMD';

export interface DirectoryLookup {
  readonly directory: string;
  /** The file's name without an extension. */
  readonly baseName: string;
  /** The variable PATHEXT. */
  readonly pathExt: string | undefined;
  /** The names of the directory's entries. */
  readonly listing: readonly string[];
}

/** The file that Windows would start for a bare name, looked for in one directory only. */
export function findByPathExt(lookup: DirectoryLookup): string | null {
  const extensions = [...splitPathExt(lookup.pathExt ?? DEFAULT_PATH_EXT), '.ps1'];
  for (const extension of extensions) {
    const wanted = `${lookup.baseName}${extension}`.toLowerCase();
    const entry = lookup.listing.find((name) => name.toLowerCase() === wanted);
    if (entry !== undefined) return path.win32.join(lookup.directory, entry);
  }
  return null;
}

export function splitPathExt(pathExt: string): string[] {
  const extensions = pathExt.split(';').map((extension) => extension.trim().toLowerCase());
  return extensions.filter((extension) => extension.startsWith('.'));
}
