import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { HooklineError } from '../base/errors.ts';
import { findRealPath } from '../base/paths.ts';
import type { Ignored } from '../dialects/discovery.ts';
import { DIALECTS } from '../dialects/index.ts';

/**
 * Resolves the real paths of the workspace roots, the primary one first, each once. Without configured
 * `roots` it is the git root of `cwd`, or `cwd` itself.
 */
export function resolveRoots(cwd: string, roots: readonly string[]): readonly string[] {
  const rootPaths = roots.length === 0 ? [findDefaultRoot(cwd)] : roots;
  const real = rootPaths.map((root) => resolveDirectory(path.resolve(cwd, root)));
  return [...new Set(real)];
}

/** Finds hook files in the start directory that are ignored because it is not a workspace root. */
export function findPathsOutsideRoots(
  startDirectory: string,
  { workspaceRoots, home }: { workspaceRoots: readonly string[]; home: string | null },
): readonly Ignored[] {
  if ([...workspaceRoots, home].includes(startDirectory)) return [];
  const why = `is not read: ${startDirectory} is not a workspace root (${workspaceRoots.join(', ')} is); use --root . to make it one`;
  return DIALECTS.flatMap(({ ownPaths }) => ownPaths?.inRoots ?? [])
    .map((name) => path.join(startDirectory, name))
    .filter((file) => existsSync(file))
    .map((file) => ({ path: file, why }));
}

/** Starts at the real directory, because a link has other parents than its target. */
function findDefaultRoot(cwd: string): string {
  const start = resolveDirectory(cwd);
  return findGitRoot(start) ?? start;
}

function resolveDirectory(directory: string): string {
  const real = findRealPath(directory);
  if (real !== null && statSync(real).isDirectory()) return real;
  throw new HooklineError('USAGE_INVALID', {
    message: `a workspace root should be a directory, found ${real === null ? 'nothing' : 'a file'} at ${directory}`,
    hint: 'Set an existing directory with --root or --cwd.',
  });
}

/** Finds the nearest parent directory with `.git`, without the git program. */
function findGitRoot(directory: string): string | null {
  for (let current = directory; ; current = path.dirname(current)) {
    if (findRealPath(path.join(current, '.git')) !== null) return current;
    if (path.dirname(current) === current) return null;
  }
}
