import path from 'node:path';
import { isRecord, parseJson } from '../../../base/json.ts';
import { readTextIfPresent } from '../../../base/files.ts';
import type { Surroundings } from '../../../dialects/machine.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import { findClineDirectory } from '../../../dialects/shared-directories.ts';
import { findPluginModules, findPluginModulesAt } from '../../../plugins/find/find-modules.ts';
import { findClineDataDirectory } from '../provided/load-overrides.ts';

export interface ResolveAgentPluginPathsOptions {
  /** Further files and directories, before those that are found. */
  pluginPaths?: readonly string[];
  workspacePath?: string;
  cwd?: string;
  includeDisabled?: boolean;
}

/** Lists the directories that are searched for plugins: the workspace's, then the user's. */
export function resolvePluginConfigSearchPaths(workspacePath?: string): string[] {
  const surroundings = readSurroundings();
  const { home } = surroundings;
  const own = findClineDirectory(surroundings);
  return [
    ...(workspacePath === undefined ? [] : [path.join(workspacePath, '.cline', 'plugins')]),
    ...(own === null ? [] : [path.join(own, 'plugins')]),
    ...(home === null ? [] : [path.join(home, 'Documents', 'Cline', 'Plugins')]),
  ];
}

/** The modules in a directory that may be plugins; helpers, tests and declarations are left out. */
export function discoverPluginModulePaths(directoryPath: string): string[] {
  return findPluginModules(path.resolve(directoryPath)).entries.map((entry) => entry.path);
}

/** Lists the paths of all plugin modules, without importing them or checking trust. */
export function resolveAgentPluginPaths(options: ResolveAgentPluginPathsOptions = {}): string[] {
  const surroundings = readSurroundings();
  const cwd = path.resolve(surroundings.cwd, options.cwd ?? '');
  const namedFiles = (options.pluginPaths ?? [])
    .filter((each) => each.trim() !== '')
    .flatMap((each) =>
      findPluginModulesAt(path.resolve(cwd, each)).entries.map((entry) => entry.path),
    );
  const searched = resolvePluginConfigSearchPaths(options.workspacePath ?? cwd);
  const all = [...new Set([...namedFiles, ...searched.flatMap(discoverPluginModulePaths)])];
  if (options.includeDisabled === true) return all;
  const disabled = readDisabledPlugins(surroundings);
  return all.filter((each) => !disabled.includes(each));
}

/** The directories with skills in the packages of these plugins; a path without one is left out. */
export function resolvePluginSkillDirectoriesFromPaths(pluginPaths: readonly string[]): string[] {
  const { cwd } = readSurroundings();
  const entries = pluginPaths.flatMap(
    (each) => findPluginModulesAt(path.resolve(cwd, each)).entries,
  );
  return [...new Set(entries.flatMap((entry) => entry.package?.skills ?? []))];
}

/** Plugins that the user disabled in Cline itself. */
function readDisabledPlugins(surroundings: Surroundings): readonly unknown[] {
  const data = findClineDataDirectory(surroundings);
  const configuredFile = surroundings.env['CLINE_GLOBAL_SETTINGS_PATH'] ?? '';
  const usual = data === null ? null : path.join(data, 'settings', 'global-settings.json');
  const file = configuredFile === '' ? usual : configuredFile;
  const parsed = parseJson((file === null ? null : readIfReadable(file)) ?? '{}');
  const list = parsed.ok && isRecord(parsed.value) ? parsed.value['disabledPlugins'] : [];
  return Array.isArray(list) ? list : [];
}

function readIfReadable(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch {
    // Unreadable settings of Cline disable nothing.
    return null;
  }
}
