import { lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode } from '../../base/errors.ts';
import { findRealPath } from '../../base/paths.ts';

const MAX_LINKS = 40;

/** The real path of an existing file, or of the file that writing to it would create. */
export function resolveTargetPath(file: string, links = 0): string {
  const real = findRealPath(file);
  const parent = path.dirname(file);
  if (real !== null || parent === file) return real ?? file;
  const target = links < MAX_LINKS ? findLinkTarget(file) : null;
  if (target !== null) {
    return resolveTargetPath(path.resolve(resolveTargetPath(parent, links + 1), target), links + 1);
  }
  return path.join(resolveTargetPath(parent, links), path.basename(file));
}

function findLinkTarget(file: string): string | null {
  try {
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return null;
    return readlinkSync(file);
  } catch (error) {
    if (IMPOSSIBLE_PATH.has(getErrorCode(error) ?? '')) return null;
    throw error;
  }
}

/** Nothing can exist below a file, or with a name that is too long. */
const IMPOSSIBLE_PATH: ReadonlySet<string> = new Set(['ENOTDIR', 'ENAMETOOLONG']);

/** Whether the path begins with `~`, which stands for the home directory. */
export function isHomePath(file: string): boolean {
  return /^~(?:$|[\\/])/.test(file);
}

export function expandHome(file: string, home: string | null): string {
  return home !== null && isHomePath(file) ? path.join(home, file.slice(1)) : file;
}
