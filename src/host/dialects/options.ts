import type { DialectOptions } from '../../dialects/index.ts';
import type { Settings } from '../settings.ts';
import { type ClaudeRequest, claudeConfigOptions } from '../../dialects/claude-config/machine.ts';
import { clinePlaces, fileHookOptions } from '../../dialects/cline-files/machine.ts';
import { pluginPlaces } from '../../dialects/cline-plugin/machine.ts';

export interface DialectsRequest extends ClaudeRequest {
  readonly settings: Settings;
}

/** What each dialect needs to know of this machine, this person and this workspace. */
export function dialectOptions(request: DialectsRequest): DialectOptions {
  const { surroundings, workspaceRoots, search, settings } = request;
  const hooksDirectory = search.hooksDirectory ?? null;
  const places = clinePlaces({ surroundings, workspaceRoots, hooksDirectory });
  const { documents } = places;
  const paths = search.pluginPaths ?? [];
  return {
    cline: {
      places,
      ...fileHookOptions(surroundings, settings),
    },
    claude: claudeConfigOptions(request),
    plugin: { places: pluginPlaces({ surroundings, workspaceRoots, documents, paths }) },
  };
}
