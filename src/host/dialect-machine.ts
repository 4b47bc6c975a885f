import type { DialectMachine } from '../dialects/machine.ts';
import { type Config, type Surroundings, typescriptLoader } from './config.ts';
import type { Settings } from './settings.ts';

/** Creates what dialects need to know of a host that is open already. */
export function createMachine({
  surroundings,
  workspaceRoots,
  startDirectory,
  stateDirectory,
  config: { settings },
}: Omit<DialectMachine, 'settings' | 'search' | 'typescriptLoader'> & {
  readonly config: Config;
}): DialectMachine {
  return {
    surroundings,
    workspaceRoots,
    startDirectory,
    stateDirectory,
    settings,
    search: {},
    typescriptLoader,
  };
}

/** Creates the machine for hooks that the caller names, which belong to no workspace. */
export function createBareMachine(surroundings: Surroundings, settings: Settings): DialectMachine {
  return {
    surroundings,
    workspaceRoots: [],
    startDirectory: surroundings.cwd,
    stateDirectory: null,
    settings,
    search: {},
    typescriptLoader,
  };
}
