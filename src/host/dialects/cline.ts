import path from 'node:path';
import { readTextIfPresent } from '../../base/files.ts';
import type { ClineFilesOptions } from '../../dialects/cline-files/dialect.ts';
import type { HookPlaces } from '../../dialects/cline-files/directories.ts';
import type { Profile } from '../../dialects/cline-files/names.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import { type Surroundings, typescriptLoader } from '../config.ts';
import type { Settings } from '../settings.ts';
import { clineDirectory } from './own-directory.ts';

/** How file hooks are started and read on this machine, with these settings. */
export function fileHookOptions(
  { platform, env, nodePath }: Surroundings,
  settings: Settings,
): Omit<ClineFilesOptions, 'places'> {
  return {
    machine: {
      platform,
      findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
      pathExt: env['PATHEXT'],
      nodePath,
      typescriptLoader,
    },
    profiles: profilesOf(settings),
    timeoutMs: settings['hooks.timeoutMs'],
    cancel: settings['cline.cancel'],
    maxContextChars: settings['cline.maxContextChars'],
  };
}

function profilesOf(settings: Settings): Record<string, Profile> {
  const chosen = Object.entries(settings['hooks.overrides']).flatMap(([id, { profile }]) =>
    profile === undefined ? [] : [[id, profile] as const],
  );
  return Object.fromEntries(chosen);
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
  return {
    home,
    documents: documentDirectories(surroundings),
    clineDirectory: clineDirectory(surroundings),
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
