import path from 'node:path';
import type { ClineFilesOptions } from './discover.ts';
import type { HookPlaces } from './directories.ts';
import type { Profile } from './events.ts';
import type { LaunchMachine } from '../../process/interpreter.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import { cleanSearchPath, listUntrustedDirectories } from '../../process/search-path.ts';
import type { DialectMachine, MachineSettings } from '../machine.ts';
import type { MachinePlaces } from '../dialect.ts';
import { readSetting } from '../options.ts';
import { CLINE_SETTINGS } from './options.ts';
import { findClineDirectory, findDocuments } from '../shared-directories.ts';

/** Reads the options for starting and decoding file hooks. */
export function readFileHookOptions({
  surroundings: { platform, env, nodePath, home },
  workspaceRoots,
  settings,
  typescriptLoader,
}: Pick<DialectMachine, 'surroundings' | 'settings' | 'typescriptLoader' | 'workspaceRoots'>): Omit<
  ClineFilesOptions,
  'places'
> {
  const { PATH: searchPath, PATHEXT: pathExt } = env;
  const createMachine = (directories: string | undefined): LaunchMachine => ({
    platform,
    findProgram: createProgramFinder(directories, platform, pathExt),
    pathExt,
    nodePath,
    typescriptLoader,
  });
  const untrusted = listUntrustedDirectories(workspaceRoots, home);
  return {
    machine: createMachine(cleanSearchPath(searchPath, untrusted, platform)),
    workspaceMachine: createMachine(searchPath),
    searchPath,
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

/** Lists where hooks for all workspaces lie, and where documented hooks write their logs. */
export function listHomeDirectories(machine: MachinePlaces): readonly string[] {
  const { documents, clineDirectory } = findHookPlaces(machine);
  return [
    ...documents.slice(0, 1).map((each) => path.join(each, 'Cline', 'Hooks')),
    ...(clineDirectory === null ? [] : [path.join(clineDirectory, 'hook-logs')]),
  ];
}

function omitEmpty(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}

const HOOKS_IN_DOCUMENTS = [path.join('Cline', 'Hooks'), path.join('Cline', 'Rules', 'Hooks')];

/** Finds places of the user's file hooks outside of `~/.cline`. */
export function findProtectedPlaces(machine: MachinePlaces): readonly string[] {
  const { documents, hooksDirectory, clineDirectory: own } = findHookPlaces(machine);
  return [
    ...(own === null
      ? []
      : ['hooks.json', 'settings.json', 'hooks'].map((name) => path.join(own, name))),
    ...documents.flatMap((each) => HOOKS_IN_DOCUMENTS.map((name) => path.join(each, name))),
    ...(hooksDirectory === null ? [] : [hooksDirectory]),
  ];
}
