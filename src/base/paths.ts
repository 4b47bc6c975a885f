import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** Whether `inner` is `outer` or lies below it; both must be absolute. */
export function isInside(outer: string, inner: string): boolean {
  return findPathInside(outer, inner) !== null;
}

/** The way from `outer` down to `inner`, empty when they are the same; null when it lies elsewhere. */
export function findPathInside(outer: string, inner: string): string | null {
  if (isPlain(outer) && isPlain(inner)) return cutPrefix(outer, inner);
  const relative = path.relative(outer, inner);
  return startsWithParent(relative) || path.isAbsolute(relative) ? null : relative;
}

/** Whether a path says where it leads as it stands. Taking one apart is slow, and most are. */
function isPlain(file: string): boolean {
  return path.sep === '/' && file.startsWith('/') && !/\/\.{0,2}(?:\/|$)/.test(file);
}

function cutPrefix(outer: string, inner: string): string | null {
  if (inner === outer) return '';
  return inner.startsWith(`${outer}/`) ? inner.slice(outer.length + 1) : null;
}

function startsWithParent(relative: string): boolean {
  return relative === '..' || relative.startsWith(`..${path.sep}`);
}

/** What lies in a directory under this name; both are known to be as they should. */
export function joinChildPath(directory: string, name: string): string {
  return directory.endsWith(path.sep) ? directory + name : directory + path.sep + name;
}

/** The real path; throws when nothing readable is there. */
export function resolveRealPath(file: string): string {
  // The system's own way is many times faster, but on Windows turns a drive letter into a share,
  // in which no command line can be started.
  return process.platform === 'win32' ? realpathSync(file) : realpathSync.native(file);
}

/** The real path, or null when nothing readable is there. */
export function findRealPath(file: string): string | null {
  // Most places that are asked for do not exist, and an exception is dear.
  if (!existsSync(file)) return null;
  try {
    return resolveRealPath(file);
  } catch {
    return null;
  }
}

/** A path as a person likes to read it: relative to the workspace, or with `~` for home. */
export function formatPath(file: string, places: { cwd: string; home: string | null }): string {
  if (isInside(places.cwd, file)) return path.relative(places.cwd, file) || '.';
  if (places.home !== null && isInside(places.home, file)) {
    return path.join('~', path.relative(places.home, file));
  }
  return file;
}
