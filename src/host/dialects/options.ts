import type { DialectOptions } from '../../dialects/index.ts';
import type { Settings } from '../settings.ts';
import { type ClaudeRequest, claudeConfigOptions } from './claude.ts';
import { clinePlaces, fileHookOptions } from './cline.ts';

export interface DialectsRequest extends ClaudeRequest {
  readonly settings: Settings;
}

/** What each dialect needs to know of this machine, this person and this workspace. */
export function dialectOptions(request: DialectsRequest): DialectOptions {
  const { surroundings, workspaceRoots, search, settings } = request;
  const hooksDirectory = search.hooksDirectory ?? null;
  return {
    cline: {
      places: clinePlaces({ surroundings, workspaceRoots, hooksDirectory }),
      ...fileHookOptions(surroundings, settings),
    },
    claude: claudeConfigOptions(request),
  };
}
