import path from 'node:path';
import type { ClineFilesOptions } from './discover.ts';
import type { HookPlaces } from './directories.ts';
import type { Profile } from './events.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import type { DialectMachine, MachineSettings } from '../machine.ts';
import type { MachinePlaces } from '../dialect.ts';
import { readSetting } from '../options.ts';
import { CLINE_SETTINGS } from './options.ts';
import { findClineDirectory, findDocuments } from '../shared-directories.ts';

/** Reads the options for starting and decoding file hooks. */
export function readFileHookOptions({
  surroundings: { platform, env, nodePath },
  settings,
  typescriptLoader,
}: Pick<DialectMachine, 'surroundings' | 'settings' | 'typescriptLoader'>): Omit<
  ClineFilesOptions,
  'places'
> {
  return {
    machine: {
      platform,
      findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
      pathExt: env['PATHEXT'],
      nodePath,
      typescriptLoader,
    },
    searchPath: env['PATH'],
    profiles: readProfiles(settings),
    timeoutMs: settings['hooks.timeoutMs'],
    cancel: readSetting(CLINE_SETTINGS['cline.cancel'], settings['cline.cancel']),
    maxContextChars: readSetting(
      CLINE_SETTINGS['cline.maxContextChars'],
      settings['cline.maxContextChars'],
    ),
  };
}

function readProfiles(settings: MachineSettings): Record<string, Profile> {
  const chosen = Object.entries(settings['hooks.overrides']).flatMap(([id, { profile }]) =>
    profile === undefined ? [] : [[id, profile] as const],
  );
  return Object.fromEntries(chosen);
}

/** Finds the places that may contain Cline hooks on this machine. */
export function findHookPlaces(
  { surroundings, workspaceRoots }: MachinePlaces,
  hooksDirectory?: string,
): HookPlaces {
  const { env, home, cwd } = surroundings;
  const directory = hooksDirectory ?? omitEmpty(env['CLINE_HOOKS_DIR']);
  return {
    home,
    documents: findDocuments(surroundings),
    clineDirectory: findClineDirectory(surroundings),
    workspaceRoots,
    hooksDirectory: directory === null ? null : path.resolve(cwd, directory),
  };
}

function omitEmpty(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}

const HOOKS_IN_DOCUMENTS = [path.join('Cline', 'Hooks'), path.join('Cline', 'Rules', 'Hooks')];

/** Finds places of the user's file hooks outside of `~/.cline`. */
export function findProtectedPlaces(machine: MachinePlaces): readonly string[] {
  const { documents, hooksDirectory, clineDirectory: own } = findHookPlaces(machine);
  return [
    ...(own === null ? [] : [path.join(own, 'hooks.json'), path.join(own, 'hooks')]),
    ...documents.flatMap((each) => HOOKS_IN_DOCUMENTS.map((name) => path.join(each, name))),
    ...(hooksDirectory === null ? [] : [hooksDirectory]),
  ];
}
