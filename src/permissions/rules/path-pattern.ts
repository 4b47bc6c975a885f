import { createRequire } from 'node:module';
import path from 'node:path';
import type ignore from 'ignore';
import { findPathInside, isInside, resolveFrom, resolveTarget } from '../../base/paths.ts';
import { expandHome } from './home-path.ts';
import { hasDeepParts, matchSegments } from './segment-glob.ts';

export interface PathContext {
  readonly cwd: string;
  /** The directory that `/x` in a rule is relative to. */
  readonly root: string;
  /** The directory that `~/x` in a rule is relative to; null when it is not known. */
  readonly home: string | null;
}

/** The path pattern of a rule, like a line of .gitignore: `*.ts`, `src/**`, `//etc/**`, `~/x`. */
export interface PathPattern {
  /** The directory that it is relative to. */
  readonly base: 'cwd' | 'root' | 'home' | 'system';
  readonly glob: string;
  /** A text that every matching path contains in some case; empty when none is known. */
  readonly literal: string;
  /** Compiled when it is first needed. */
  readonly ignoringCase: () => GlobMatcher;
  readonly exactCase: () => GlobMatcher;
}

/** Whether a path, relative to the directory of the pattern, or a directory above it matches. */
type GlobMatcher = Pick<ignore.Ignore, 'ignores'>;

export function parsePathPattern(content: string): PathPattern {
  const { base, glob } = splitBase(content);
  let ignoringCase: GlobMatcher | null = null;
  let exactCase: GlobMatcher | null = null;
  return {
    base,
    glob,
    literal: findLiteral(glob),
    ignoringCase: () => (ignoringCase ??= compileGlob(glob, { ignorecase: true })),
    exactCase: () => (exactCase ??= compileGlob(glob, { ignorecase: false })),
  };
}

/** The longest run of ordinary characters. ASCII only, because other letters have more than one lower case. */
function findLiteral(glob: string): string {
  if (/[\\[!]/.test(glob)) return '';
  const runs = (glob.match(/[\w.-]+/g) ?? []).filter((run) => !/^\.+$/.test(run));
  return runs
    .reduce((longest, run) => (run.length > longest.length ? run : longest), '')
    .toLowerCase();
}

function splitBase(content: string): Pick<PathPattern, 'base' | 'glob'> {
  const trimmed = content.trim();
  if (trimmed.startsWith('//')) return { base: 'system', glob: trimmed.slice(1) };
  if (trimmed.startsWith('~/')) return { base: 'home', glob: trimmed.slice(1) };
  if (trimmed.startsWith('/')) return { base: 'root', glob: trimmed };
  return { base: 'cwd', glob: trimmed.replace(/^\.\//, '/') };
}

/** Whether a rule matches: certainly, possibly, or not at all. */
export type GuardMatch = 'yes' | 'maybe' | 'no';

/** Matches the target of a link, too; `maybe` when that target is not certain. */
export function matchPath(pattern: PathPattern, file: string, context: PathContext): GuardMatch {
  if (canMatchWrittenPath(pattern, file, context)) return 'yes';
  const target = resolveTarget(resolveFrom(context.cwd, expandHome(file, context.home)));
  if (canMatchWrittenPath(pattern, target.path, resolveRealContext(context))) return 'yes';
  return target.isCertain ? 'no' : 'maybe';
}

/** The same directories by their real paths. */
export function resolveRealContext({ cwd, root, home }: PathContext): PathContext {
  return {
    cwd: resolveTarget(cwd).path,
    root: resolveTarget(root).path,
    home: home === null ? null : resolveTarget(home).path,
  };
}

/** Matches the path as written, without resolving links. A pattern for any depth also matches outside. */
export function canMatchWrittenPath(
  pattern: PathPattern,
  file: string,
  context: PathContext,
): boolean {
  const relative = toRelative(pattern, file, context);
  if (relative !== null) return relative !== '' && pattern.ignoringCase().ignores(relative);
  if (pattern.base !== 'cwd' || !isAnyDepth(pattern.glob)) return false;
  return pattern.ignoringCase().ignores(stripSystemRoot(resolveFrom(context.cwd, file)));
}

/** Whether a matching file may lie below a directory, or be it. Errs towards matching. */
export function canMatchBelow(
  { base, glob }: PathPattern,
  directory: string,
  context: PathContext,
): boolean {
  if (isAnyDepth(glob)) return true;
  const start = base === 'system' ? path.parse(context.cwd).root : context[base];
  if (start === null) return false;
  const anchor = path.join(start, getLiteralStart(glob)).toLowerCase();
  const searched = directory.toLowerCase();
  return isInside(searched, anchor) || isInside(anchor, searched);
}

/**
 * The directory, or file, below which every match of a pattern lies; null for a pattern that matches at
 * any depth.
 */
export function listPatternStarts(
  { base, glob }: PathPattern,
  context: PathContext,
): readonly string[] | null {
  if (isAnyDepth(glob)) return null;
  const start = base === 'system' ? path.parse(context.cwd).root : context[base];
  return start === null ? [] : [path.join(start, getLiteralStart(glob))];
}

/** The path segments before the first wildcard. */
function getLiteralStart(glob: string): string {
  const names = glob.split('/');
  const firstWildcard = names.findIndex((name) => /[*?[\\!]/.test(name));
  return names.slice(0, firstWildcard === -1 ? names.length : firstWildcard).join('/');
}

/** Errs towards not matching: only files below the pattern's own directory. */
export function isCertainPathMatch(
  pattern: PathPattern,
  file: string,
  context: PathContext,
): boolean {
  const relative = toRelative(pattern, file, context);
  return relative !== null && relative !== '' && pattern.exactCase().ignores(relative);
}

function toRelative(pattern: PathPattern, file: string, context: PathContext): string | null {
  const absolutePath = resolveFrom(context.cwd, expandHome(file, context.home));
  if (pattern.base === 'system') return stripSystemRoot(absolutePath);
  const base = context[pattern.base];
  return base === null
    ? null
    : (findPathInside(base, absolutePath)?.replaceAll(path.sep, '/') ?? null);
}

function stripSystemRoot(file: string): string {
  return file.slice(path.parse(file).root.length).replaceAll(path.sep, '/');
}

function isAnyDepth(glob: string): boolean {
  return glob.startsWith('**/') || !glob.replace(/\/$/, '').includes('/');
}

// Loaded with require, because matching is synchronous; lazily, because most conditions need no glob.
function compileGlob(glob: string, options: ignore.Options): GlobMatcher {
  const load: (name: string) => typeof ignore = createRequire(import.meta.url);
  const create = load('ignore');
  // With several `**`, its regular expression takes exponential time for deep paths.
  if (!hasDeepParts(glob) || /^[!#]/.test(glob)) return create(options).add(glob);
  const compiled = new Map<string, GlobMatcher>();
  const compilePart = (part: string): GlobMatcher => {
    const matcher = compiled.get(part) ?? create(options).add(`/${part}`);
    compiled.set(part, matcher);
    return matcher;
  };
  return {
    ignores: (file) => matchSegments(glob, file, (part, name) => compilePart(part).ignores(name)),
  };
}
