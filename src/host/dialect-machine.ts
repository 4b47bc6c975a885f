import { resolveBuiltFile } from '../base/built-files.ts';
import { dropUndefined } from '../base/defined.ts';
import type { DialectMachine, DialectSearch, Surroundings } from '../dialects/machine.ts';
import type { Config } from './config.ts';
import type { Settings } from './settings.ts';

/** The module that runs a TypeScript hook without bun. */
export const typescriptLoader: string = resolveBuiltFile('typescript-loader.js');

/** What a caller may name, the paths of today's dialects under names of their own. */
export interface MachineSearch extends DialectSearch {
  /** A further directory of Cline hooks. */
  readonly hooksDirectory?: string;
  /** Directories of Claude plugins, which need not be installed. */
  readonly pluginDirectories?: readonly string[];
  /** Files, packages and directories with Cline plugins, beside those of the user and the workspace. */
  readonly pluginPaths?: readonly string[];
  /** Further settings in Claude's format: a file, or the JSON itself. */
  readonly claudeSettings?: string;
}

/** Creates what dialects need to know of a host that is open already. */
export function createMachine(
  {
    surroundings,
    workspaceRoots,
    startDirectory,
    stateDirectory,
    config: { settings },
  }: Omit<DialectMachine, 'settings' | 'search' | 'typescriptLoader'> & {
    readonly config: Config;
  },
  search: MachineSearch = {},
): DialectMachine {
  const { hooksDirectory, pluginDirectories, pluginPaths, claudeSettings, paths, ...rest } = search;
  const ownPaths = { hooksDirectory, pluginDirectories, pluginPaths, claudeSettings };
  return {
    surroundings,
    workspaceRoots,
    startDirectory,
    stateDirectory,
    settings: { ...settings },
    search: { ...rest, paths: { ...dropUndefined(ownPaths), ...paths } },
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
    settings: { ...settings },
    search: {},
    typescriptLoader,
  };
}
