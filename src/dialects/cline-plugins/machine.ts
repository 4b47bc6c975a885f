import path from 'node:path';
import type { PluginPlaces } from './find-plugins.ts';
import type { MachinePlaces } from '../dialect.ts';
import type { Surroundings } from '../machine.ts';
import { findClineDirectory, findDocuments } from '../shared-directories.ts';

/** Finds the places that may contain Cline plugins, including paths that the caller names. */
export function findPluginPlaces(
  { surroundings, workspaceRoots }: MachinePlaces,
  paths: readonly string[] = [],
): PluginPlaces {
  const { home, cwd } = surroundings;
  return {
    home,
    documents: findDocuments(surroundings),
    clineDirectory: findClineDirectory(surroundings),
    workspaceRoots,
    paths: paths.filter((each) => each.trim() !== '').map((each) => path.resolve(cwd, each)),
    clineSettings: findClineSettings(surroundings),
    clineServers: findClineServers(surroundings),
  };
}

/** Finds Cline's settings file with disabled plugins; null without a home directory. */
function findClineSettings(surroundings: Surroundings): string | null {
  const { env, cwd } = surroundings;
  const settingsPath = env['CLINE_GLOBAL_SETTINGS_PATH'] ?? '';
  if (settingsPath !== '') return path.resolve(cwd, settingsPath);
  const data = env['CLINE_DATA_DIR'] ?? '';
  const clineDirectory = findClineDirectory(surroundings);
  if (data === '' && clineDirectory === null) return null;
  const directory = data === '' ? path.join(clineDirectory ?? '', 'data') : path.resolve(cwd, data);
  return path.join(directory, 'settings', 'global-settings.json');
}

/** Finds Cline's file with MCP servers, which a variable may move; null without a home directory. */
function findClineServers(surroundings: Surroundings): string | null {
  const moved = surroundings.env['CLINE_MCP_SETTINGS_PATH'] ?? '';
  if (moved !== '') return path.resolve(surroundings.cwd, moved);
  const directory = findClineDirectory(surroundings);
  return directory === null
    ? null
    : path.join(directory, 'data', 'settings', 'cline_mcp_settings.json');
}
