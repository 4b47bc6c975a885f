import path from 'node:path';
import type { ClaudeConfigOptions } from './find-hooks.ts';
import type { ClaudePlaces } from './sources/places.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import type { DialectMachine } from '../machine.ts';
import {
  findClaudeDirectory,
  findClineDirectory,
  findManagedDirectory,
} from '../own-directories.ts';

/** Reads where hooks in Claude's format are configured, and what they run with. */
export function readClaudeOptions(machine: DialectMachine): ClaudeConfigOptions {
  const { surroundings, startDirectory, stateDirectory, search } = machine;
  const { env, home, platform } = surroundings;
  const isAttended = search.isAttended ?? false;
  return {
    places: findClaudePlaces(machine),
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

function findClaudePlaces(machine: DialectMachine): ClaudePlaces {
  const { surroundings, workspaceRoots, startDirectory, search } = machine;
  const { env, home, cwd, platform } = surroundings;
  return {
    startDirectory,
    workspaceRoots,
    home,
    claudeDirectory: findClaudeDirectory(surroundings),
    clineDirectory: findClineDirectory(surroundings),
    managedDirectory: findManagedDirectory(platform),
    pluginDirectories: (search.pluginDirectories ?? []).map((each) => path.resolve(cwd, each)),
    flagSettings: search.claudeSettings ?? null,
    env,
  };
}
