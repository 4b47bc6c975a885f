import path from 'node:path';
import type { PluginPlaces } from './discover.ts';
import type { Surroundings } from '../../host/config.ts';
import { clineDirectory } from '../own-directories.ts';

export interface PluginPlacesRequest {
  readonly surroundings: Surroundings;
  readonly workspaceRoots: readonly string[];
  /** The person's documents directories. */
  readonly documents: readonly string[];
  /** What the caller named. */
  readonly paths: readonly string[];
}

/** Where Cline plugins may lie on this machine. */
export function pluginPlaces({
  surroundings,
  workspaceRoots,
  documents,
  paths,
}: PluginPlacesRequest): PluginPlaces {
  const { home, cwd } = surroundings;
  return {
    home,
    documents,
    clineDirectory: clineDirectory(surroundings),
    workspaceRoots,
    paths: paths.filter((each) => each.trim() !== '').map((each) => path.resolve(cwd, each)),
    clineSettings: clineSettings(surroundings),
  };
}

/** Where Cline keeps what a person switched off in it; null without a home directory. */
function clineSettings(surroundings: Surroundings): string | null {
  const { env, cwd } = surroundings;
  const named = env['CLINE_GLOBAL_SETTINGS_PATH'] ?? '';
  if (named !== '') return path.resolve(cwd, named);
  const data = env['CLINE_DATA_DIR'] ?? '';
  const own = clineDirectory(surroundings);
  if (data === '' && own === null) return null;
  const directory = data === '' ? path.join(own ?? '', 'data') : path.resolve(cwd, data);
  return path.join(directory, 'settings', 'global-settings.json');
}
