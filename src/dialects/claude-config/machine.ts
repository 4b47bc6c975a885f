import path from 'node:path';
import type { ClaudeConfigOptions } from './dialect.ts';
import type { ClaudePlaces } from './sources/places.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import type { Surroundings } from '../../host/config.ts';
import type { HookSearch } from '../../host/hook-search.ts';
import { claudeDirectory, clineDirectory, managedDirectory } from '../own-directories.ts';

export interface ClaudeRequest {
  readonly surroundings: Surroundings;
  readonly workspaceRoots: readonly string[];
  readonly startDirectory: string;
  readonly stateDirectory: string | null;
  readonly search: HookSearch;
}

/** Where Claude-format hooks are configured on this machine, and what they are run with. */
export function claudeConfigOptions(request: ClaudeRequest): ClaudeConfigOptions {
  const { surroundings, startDirectory, stateDirectory, search } = request;
  const { env, home, platform } = surroundings;
  const isAttended = search.isAttended ?? false;
  return {
    places: claudePlaces(request),
    session: {
      startDirectory,
      home,
      stateDirectory,
      isAttended,
      awaitsRewake: !isAttended,
      env,
      machine: {
        platform,
        findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
      },
    },
    ports: search.ports ?? {},
  };
}

function claudePlaces(request: ClaudeRequest): ClaudePlaces {
  const { surroundings, workspaceRoots, startDirectory, search } = request;
  const { env, home, cwd, platform } = surroundings;
  return {
    startDirectory,
    workspaceRoots,
    home,
    claudeDirectory: claudeDirectory(surroundings),
    clineDirectory: clineDirectory(surroundings),
    managedDirectory: managedDirectory(platform),
    pluginDirectories: (search.pluginDirectories ?? []).map((each) => path.resolve(cwd, each)),
    flagSettings: search.claudeSettings ?? null,
    env,
  };
}
