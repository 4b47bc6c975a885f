import path from 'node:path';
import { readTextIfPresent } from '../base/files.ts';
import { findOwnDirectory, type Surroundings } from './machine.ts';

/**
 * Finds `~/.cline`, or the directory that the environment sets instead. Not in the folder of a dialect,
 * because it is no dialect's own: two read Cline's files, Claude's reads `hooks.json` in it, and
 * `compat/cline` provides Cline's functions that return it.
 */
export function findClineDirectory(surroundings: Surroundings): string | null {
  return findOwnDirectory(surroundings, 'CLINE_DIR', '.cline');
}

/**
 * Finds the user's documents directory, and the one that the desktop redirects it to; Cline's hook files
 * and plugins are looked for in both.
 */
export function findDocuments(surroundings: Surroundings): readonly string[] {
  const { home } = surroundings;
  if (home === null) return [];
  const redirected = findRedirectedDocuments(surroundings, home);
  return [...new Set([path.join(home, 'Documents'), ...redirected])];
}

function findRedirectedDocuments({ platform, env }: Surroundings, home: string): string[] {
  if (platform === 'win32') {
    const cloud = omitEmpty(env['OneDrive']);
    return cloud === null ? [] : [path.join(cloud, 'Documents')];
  }
  const settings = omitEmpty(env['XDG_CONFIG_HOME']) ?? path.join(home, '.config');
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
    // The desktop's file is optional; the default directory is read in any case.
    return '';
  }
}

function omitEmpty(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}
