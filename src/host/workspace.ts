import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { HooklineError } from '../base/errors.ts';
import { findRealPath } from '../base/paths.ts';
import type { Ignored } from '../dialects/dialect.ts';

export interface WorkspaceRequest {
  readonly cwd: string;
  /** Named roots; the git root of `cwd`, or `cwd` itself, when there are none. */
  readonly roots: readonly string[];
}

/** Real paths of the workspace roots, the primary one first, each once. */
export function resolveRoots({ cwd, roots }: WorkspaceRequest): readonly string[] {
  const named = roots.length === 0 ? [defaultRoot(cwd)] : roots;
  const real = named.map((root) => realDirectory(path.resolve(cwd, root)));
  return [...new Set(real)];
}

const PLACES_OF_ROOTS = [
  ['.clinerules', 'hooks'],
  ['.cline', 'hooks'],
  ['.cline', 'hooks.json'],
  ['.cline', 'plugins'],
];

/** What lies where a session starts and would count, were that a workspace root. */
export function findPathsOutsideRoots(
  startDirectory: string,
  { workspaceRoots, home }: { workspaceRoots: readonly string[]; home: string | null },
): readonly Ignored[] {
  if ([...workspaceRoots, home].includes(startDirectory)) return [];
  const why = `is not read: ${startDirectory} is no workspace root (${workspaceRoots.join(', ')} is); say --root . to make it one`;
  return PLACES_OF_ROOTS.map((names) => path.join(startDirectory, ...names))
    .filter((place) => existsSync(place))
    .map((place) => ({ path: place, why }));
}

/** Looked for from the real directory: a link elsewhere has other parents than what it links to. */
function defaultRoot(cwd: string): string {
  const start = realDirectory(cwd);
  return findGitRoot(start) ?? start;
}

function realDirectory(directory: string): string {
  const real = findRealPath(directory);
  if (real !== null && statSync(real).isDirectory()) return real;
  throw new HooklineError('USAGE_INVALID', {
    message: `a workspace root should be a directory, found ${real === null ? 'nothing' : 'a file'} at ${directory}`,
    hint: 'Name an existing directory with --root or --cwd.',
  });
}

/** The nearest directory upwards that holds `.git`; no git program is needed. */
function findGitRoot(directory: string): string | null {
  for (let current = directory; ; current = path.dirname(current)) {
    if (findRealPath(path.join(current, '.git')) !== null) return current;
    if (path.dirname(current) === current) return null;
  }
}
