import { lstatSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type ignore from 'ignore';
import { getErrorCode } from '../../base/errors.ts';
import { findPathInside, findRealPath, isInside } from '../../base/paths.ts';

export interface PathContext {
  readonly cwd: string;
  /** What `/x` in a rule is relative to. */
  readonly root: string;
  /** What `~/x` in a rule is relative to; null when it is not known. */
  readonly home: string | null;
}

/** What a rule says of a path, like a line of .gitignore: `*.ts`, `src/**`, `//etc/**`, `~/x`. */
export interface PathPattern {
  /** The directory that it is relative to. */
  readonly base: 'cwd' | 'root' | 'home' | 'system';
  readonly glob: string;
  /** Compiled when it is first needed. */
  readonly loose: () => ignore.Ignore;
  readonly strict: () => ignore.Ignore;
}

export function parsePathPattern(content: string): PathPattern {
  const { base, glob } = splitBase(content);
  let loose: ignore.Ignore | null = null;
  let strict: ignore.Ignore | null = null;
  return {
    base,
    glob,
    loose: () => (loose ??= compile(glob, { ignorecase: true })),
    strict: () => (strict ??= compile(glob, { ignorecase: false })),
  };
}

function splitBase(content: string): Pick<PathPattern, 'base' | 'glob'> {
  const written = content.trim();
  if (written.startsWith('//')) return { base: 'system', glob: written.slice(1) };
  if (written.startsWith('~/')) return { base: 'home', glob: written.slice(1) };
  if (written.startsWith('/')) return { base: 'root', glob: written };
  return { base: 'cwd', glob: written.replace(/^\.\//, '/') };
}

/** Errs towards matching: what a link leads to counts, too. */
export function canMatchPath(pattern: PathPattern, file: string, context: PathContext): boolean {
  if (canMatchWrittenPath(pattern, file, context)) return true;
  const written = path.resolve(context.cwd, expandHome(file, context.home));
  return canMatchWrittenPath(pattern, resolveTargetPath(written), resolveRealContext(context));
}

/** The same places by where they really lie. */
export function resolveRealContext({ cwd, root, home }: PathContext): PathContext {
  return {
    cwd: resolveTargetPath(cwd),
    root: resolveTargetPath(root),
    home: home === null ? null : resolveTargetPath(home),
  };
}

const MAX_LINKS = 40;

/** The real path of what is there, or of what writing to it would create. */
export function resolveTargetPath(file: string, links = 0): string {
  const real = findRealPath(file);
  const parent = path.dirname(file);
  if (real !== null || parent === file) return real ?? file;
  const target = links < MAX_LINKS ? findLinkTarget(file) : null;
  if (target !== null)
    return resolveTargetPath(path.resolve(resolveTargetPath(parent, links + 1), target), links + 1);
  return path.join(resolveTargetPath(parent, links), path.basename(file));
}

function findLinkTarget(file: string): string | null {
  try {
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return null;
    return readlinkSync(file);
  } catch (error) {
    if (CANNOT_BE.has(getErrorCode(error) ?? '')) return null;
    throw error;
  }
}

/** Below a file, or with a name that is too long, there is nothing, and nothing can be. */
const CANNOT_BE: ReadonlySet<string> = new Set(['ENOTDIR', 'ENAMETOOLONG']);

/** As it stands, whatever a link leads to. A file elsewhere fits a pattern that fits at any depth. */
export function canMatchWrittenPath(
  pattern: PathPattern,
  file: string,
  context: PathContext,
): boolean {
  const relative = findRelative(pattern, file, context);
  if (relative !== null) return relative !== '' && pattern.loose().ignores(relative);
  if (pattern.base !== 'cwd' || !isAnyDepth(pattern.glob)) return false;
  return pattern.loose().ignores(belowSystemRoot(path.resolve(context.cwd, file)));
}

/** Whether a file that it means may lie below a directory, or be it. Errs towards that. */
export function canMatchBelow(
  { base, glob }: PathPattern,
  directory: string,
  context: PathContext,
): boolean {
  if (isAnyDepth(glob)) return true;
  const start = base === 'system' ? path.parse(context.cwd).root : context[base];
  if (start === null) return false;
  const anchor = path.join(start, plainStart(glob)).toLowerCase();
  const searched = directory.toLowerCase();
  return isInside(searched, anchor) || isInside(anchor, searched);
}

/** What a pattern says before its first wildcard, whole names only. */
function plainStart(glob: string): string {
  const names = glob.split('/');
  const wild = names.findIndex((name) => /[*?[\\!]/.test(name));
  return names.slice(0, wild === -1 ? names.length : wild).join('/');
}

/** Errs towards not matching: only what lies below the pattern's own directory. */
export function isExactPathMatch(
  pattern: PathPattern,
  file: string,
  context: PathContext,
): boolean {
  const relative = findRelative(pattern, file, context);
  return relative !== null && relative !== '' && pattern.strict().ignores(relative);
}

function findRelative(pattern: PathPattern, file: string, context: PathContext): string | null {
  const full = path.resolve(context.cwd, expandHome(file, context.home));
  if (pattern.base === 'system') return belowSystemRoot(full);
  const base = context[pattern.base];
  return base === null ? null : (findPathInside(base, full)?.replaceAll(path.sep, '/') ?? null);
}

export function expandHome(file: string, home: string | null): string {
  return home !== null && /^~(?:$|[\\/])/.test(file) ? path.join(home, file.slice(1)) : file;
}

function belowSystemRoot(file: string): string {
  return file.slice(path.parse(file).root.length).replaceAll(path.sep, '/');
}

function isAnyDepth(glob: string): boolean {
  return glob.startsWith('**/') || !glob.replace(/\/$/, '').includes('/');
}

// Synchronous, as whether a handler fits is asked between two handlers; most conditions need none.
function compile(glob: string, options: ignore.Options): ignore.Ignore {
  const load: (name: string) => typeof ignore = createRequire(import.meta.url);
  return load('ignore')(options).add(glob);
}
