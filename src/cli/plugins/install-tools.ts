import { systemClock } from '../../base/clock.ts';
import type { Host } from '../../host/create-host.ts';
import type { InstallTools } from '../../plugins/install/fetch/tools.ts';
import { buildChildEnvironment, PROVIDER_KEYS } from '../../process/environment.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import type { CommandContext } from '../context.ts';
import { DIALECTS } from '../../dialects/index.ts';
import type { PluginsPlace } from '../../plugins/install/install.ts';

/** npm, git and the rest of this machine, for whoever installs plugins. */
export function createInstallTools(
  { print, signal }: CommandContext,
  { surroundings }: Pick<Host, 'surroundings'>,
): InstallTools {
  const { env, platform } = surroundings;
  return {
    findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
    env: buildChildEnvironment({ base: env, withhold: PROVIDER_KEYS, pass: [], add: {}, platform }),
    signal,
    onProgress: (doing) => print.progress(doing),
    now: () => systemClock.now(),
  };
}

/** Every directory that plugins are looked for in: the person's, then those of the workspace. */
export function listPluginPlaces(
  host: Pick<Host, 'surroundings' | 'workspaceRoots'>,
): readonly PluginsPlace[] {
  return DIALECTS.flatMap(({ pluginDirectories }) => pluginDirectories?.(host) ?? []);
}
