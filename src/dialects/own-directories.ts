import path from 'node:path';
import { readTextIfPresent } from '../base/files.ts';
import type { MachineFacts } from './machine.ts';

/** Finds `~/.claude`, or the directory that the environment sets instead; null without a home directory. */
export function findClaudeDirectory(surroundings: MachineFacts): string | null {
  return findOwnDirectory(surroundings, 'CLAUDE_CONFIG_DIR', '.claude');
}

/** Finds `~/.cline`, or the directory that the environment sets instead. */
export function findClineDirectory(surroundings: MachineFacts): string | null {
  return findOwnDirectory(surroundings, 'CLINE_DIR', '.cline');
}

function findOwnDirectory(
  { env, home, cwd }: MachineFacts,
  variable: string,
  name: string,
): string | null {
  const moved = env[variable] ?? '';
  if (moved !== '') return path.resolve(cwd, moved);
  return home === null ? null : path.join(home, name);
}

/** The directory of the administrator's settings and instructions, which override all others. */
const MANAGED: Partial<Record<NodeJS.Platform, string>> = {
  linux: '/etc/claude-code',
  darwin: '/Library/Application Support/ClaudeCode',
  win32: String.raw`C:\Program Files\ClaudeCode`,
};

export function findManagedDirectory(platform: NodeJS.Platform): string | null {
  return MANAGED[platform] ?? null;
}

/** Finds the user's documents directory, and the one that the desktop redirects it to. */
export function findDocuments(surroundings: MachineFacts): readonly string[] {
  const { home } = surroundings;
  if (home === null) return [];
  const redirected = findRedirectedDocuments(surroundings, home);
  return [...new Set([path.join(home, 'Documents'), ...redirected])];
}

function findRedirectedDocuments({ platform, env }: MachineFacts, home: string): string[] {
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
