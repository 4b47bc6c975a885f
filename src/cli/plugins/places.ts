import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { DIALECTS } from '../../dialects/index.ts';
import type { Host } from '../../host/create-host.ts';
import { clineDirectory } from '../../dialects/own-directories.ts';
import type { PluginsPlace } from '../../plugins/install/install.ts';
import type { CommandContext } from '../context.ts';

/** Every directory that plugins are looked for in: the person's, then those of the workspace. */
export function pluginsPlaces(
  host: Pick<Host, 'surroundings' | 'workspaceRoots'>,
): readonly PluginsPlace[] {
  return DIALECTS.flatMap(({ pluginDirectories }) => pluginDirectories?.(host) ?? []);
}

/** The directory that --cwd names, or the person's own. */
export function placeToInstall(
  { isDirectoryNamed }: CommandContext,
  { startDirectory: workspace, surroundings }: Pick<Host, 'startDirectory' | 'surroundings'>,
): PluginsPlace {
  if (isDirectoryNamed === true) {
    return { directory: path.join(workspace, '.cline', 'plugins'), workspace };
  }
  const own = clineDirectory(surroundings);
  if (own !== null) return { directory: path.join(own, 'plugins'), workspace: null };
  throw new HooklineError('PLUGIN_INSTALL_FAILED', {
    message: 'there is no home directory to install plugins into',
    hint: 'Set HOME or CLINE_DIR, or name a workspace with --cwd.',
  });
}
