import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode } from './errors.ts';

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

/**
 * Like path.resolve, but `..` after a link is the parent of the directory that the link leads to, as for
 * the kernel. Windows removes `..` before it looks at links.
 */
export function resolveFrom(directory: string, file: string): string {
  // Most paths are normalized already, and path.resolve is slow.
  if (isNormalized(file)) return file;
  if (process.platform === 'win32' || !hasParentSegment(file)) return path.resolve(directory, file);
  const written = path.isAbsolute(file) ? file : `${path.resolve(directory)}/${file}`;
  let resolved = '/';
  for (const name of written.split('/')) {
    if (name === '..') resolved = path.dirname(resolveTarget(resolved).path);
    else if (name !== '' && name !== '.') resolved = joinChildPath(resolved, name);
  }
  return resolved;
}

function hasParentSegment(file: string): boolean {
  return file.includes('..') && /(?:^|\/)\.\.(?:\/|$)/.test(file);
}

/** Where a path leads. It is not certain when links form a circle or a directory cannot be searched. */
export interface ResolvedTarget {
  readonly path: string;
  readonly isCertain: boolean;
}

/** As many as the kernel follows. */
const MAX_LINKS = 40;

/** The real path of an existing file, or of the file that writing to it would create. Never throws. */
export function resolveTarget(file: string): ResolvedTarget {
  return followPath(file, { links: MAX_LINKS });
}

function followPath(file: string, budget: { links: number }): ResolvedTarget {
  const real = findRealPath(file);
  if (real !== null) return { path: real, isCertain: isText(real) };
  const parent = path.dirname(file);
  if (parent === file) return { path: file, isCertain: true };
  const name = path.basename(file);
  const directory = followPath(parent, budget);
  if (name === '..') return { ...directory, path: path.dirname(directory.path) };
  const place = joinChildPath(directory.path, name);
  const link = findLinkTarget(place);
  const isCertain = directory.isCertain && link !== 'unknown';
  if (link === null || link === 'unknown') return { path: place, isCertain };
  budget.links -= 1;
  if (budget.links < 0) return { path: place, isCertain: false };
  const next = path.isAbsolute(link.target)
    ? link.target
    : joinChildPath(directory.path, link.target);
  const target = followPath(next, budget);
  // The kernel gave up on the way to a file that exists: too many links, or a directory that it may not search.
  const isReached = target.isCertain && !existsSync(target.path);
  return { path: target.path, isCertain: isCertain && isReached && isText(link.target) };
}

/** Bytes that are not UTF-8 are decoded to this character, and the path no longer names the file. */
function isText(name: string): boolean {
  return !name.includes('\uFFFD');
}

/** Where a link points, as it is written; null for anything but a link. */
function findLinkTarget(file: string): { readonly target: string } | null | 'unknown' {
  try {
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return null;
    return { target: readlinkSync(file) };
  } catch (error) {
    return IMPOSSIBLE_PATH.has(getErrorCode(error) ?? '') ? null : 'unknown';
  }
}

/** Nothing can exist below a file, or with a name that is too long. */
const IMPOSSIBLE_PATH: ReadonlySet<string> = new Set(['ENOTDIR', 'ENAMETOOLONG', 'ENOENT']);

/** A path for display: relative to the workspace, or with `~` for the home directory. */
export function formatPath(file: string, places: { cwd: string; home: string | null }): string {
  if (isInside(places.cwd, file)) return path.relative(places.cwd, file) || '.';
  if (places.home !== null && isInside(places.home, file)) {
    return path.join('~', path.relative(places.home, file));
  }
  return file;
}
