import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** Whether `inner` is `outer` or lies below it; both must be absolute. */
export function isInside(outer: string, inner: string): boolean {
  return findPathInside(outer, inner) !== null;
}

/** The path of `inner` relative to `outer`, empty when they are the same; null when it lies elsewhere. */
export function findPathInside(outer: string, inner: string): string | null {
  if (isNormalized(outer) && isNormalized(inner)) return stripPrefix(outer, inner);
  const relative = path.relative(outer, inner);
  return hasParentPrefix(relative) || path.isAbsolute(relative) ? null : relative;
}

/** Whether a path is absolute and normalized: such paths, which most are, need no slow path.relative. */
function isNormalized(file: string): boolean {
  return path.sep === '/' && file.startsWith('/') && !/\/\.{0,2}(?:\/|$)/.test(file);
}

function stripPrefix(outer: string, inner: string): string | null {
  if (inner === outer) return '';
  return inner.startsWith(`${outer}/`) ? inner.slice(outer.length + 1) : null;
}

function hasParentPrefix(relative: string): boolean {
  return relative === '..' || relative.startsWith(`..${path.sep}`);
}

/** Like path.join, but without normalizing, which takes long for many files. */
export function joinChildPath(directory: string, name: string): string {
  return directory.endsWith(path.sep) ? directory + name : directory + path.sep + name;
}

/** The real path; throws when nothing readable is there. */
export function resolveRealPath(file: string): string {
  // The native function is many times faster, but on Windows turns a drive letter into a network
  // share, in which cmd.exe cannot start.
  return process.platform === 'win32' ? realpathSync(file) : realpathSync.native(file);
}

/** The real path, or null when nothing readable is there. */
export function findRealPath(file: string): string | null {
  // Most of these paths do not exist, and an exception is expensive.
  if (!existsSync(file)) return null;
  try {
    return resolveRealPath(file);
  } catch {
    return null;
  }
}

/** A path for display: relative to the workspace, or with `~` for the home directory. */
export function formatPath(file: string, places: { cwd: string; home: string | null }): string {
  if (isInside(places.cwd, file)) return path.relative(places.cwd, file) || '.';
  if (places.home !== null && isInside(places.home, file)) {
    return path.join('~', path.relative(places.home, file));
  }
  return file;
}
