import { statSync } from 'node:fs';
import path from 'node:path';
import { HooklineError } from '../base/errors.ts';
import { readTextIfPresent } from '../base/files.ts';
import { findRealPath } from '../base/paths.ts';
import type { HookPlaces } from '../dialects/cline-files/directories.ts';
import type { Surroundings } from './config.ts';

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

export interface PlacesRequest {
  readonly surroundings: Surroundings;
  readonly workspaceRoots: readonly string[];
  readonly hooksDirectory: string | null;
}

/** Where Cline hooks may lie on this machine. */
export function clinePlaces({
  surroundings,
  workspaceRoots,
  hooksDirectory,
}: PlacesRequest): HookPlaces {
  const { env, home, cwd } = surroundings;
  const named = hooksDirectory ?? nonEmpty(env['CLINE_HOOKS_DIR']);
  const moved = nonEmpty(env['CLINE_DIR']) ?? (home === null ? null : path.join(home, '.cline'));
  return {
    home,
    documents: documentDirectories(surroundings),
    clineDirectory: moved === null ? null : path.resolve(cwd, moved),
    workspaceRoots,
    hooksDirectory: named === null ? null : path.resolve(cwd, named),
  };
}

/** The usual documents directory, and the one that the desktop redirects it to. */
function documentDirectories(surroundings: Surroundings): string[] {
  const { home } = surroundings;
  if (home === null) return [];
  const redirected = redirectedDocuments(surroundings, home);
  return [...new Set([path.join(home, 'Documents'), ...redirected])];
}

function redirectedDocuments({ platform, env }: Surroundings, home: string): string[] {
  if (platform === 'win32') {
    const cloud = nonEmpty(env['OneDrive']);
    return cloud === null ? [] : [path.join(cloud, 'Documents')];
  }
  const settings = nonEmpty(env['XDG_CONFIG_HOME']) ?? path.join(home, '.config');
  const line = /^XDG_DOCUMENTS_DIR="(?<directory>[^"]*)"/mu.exec(
    readQuietly(path.join(settings, 'user-dirs.dirs')),
  );
  const directory = line?.groups?.['directory']?.replace('$HOME', () => home) ?? '';
  return path.isAbsolute(directory) && directory !== home ? [directory] : [];
}

function readQuietly(file: string): string {
  try {
    return readTextIfPresent(file) ?? '';
  } catch {
    // The desktop's file is only a hint; the usual directory is read in any case.
    return '';
  }
}

function nonEmpty(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}
