import { systemClock } from '../../base/clock.ts';
import type { Host } from '../../host/create-host.ts';
import type { InstallTools } from '../../plugins/install/fetch/tools.ts';
import { buildChildEnvironment, PROVIDER_KEYS } from '../../process/environment.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import { cleanEnvironment, listUntrustedDirectories } from '../../process/search-path.ts';
import type { CommandContext } from '../context.ts';
import { DIALECTS } from '../../dialects/index.ts';
import type { PluginsPlace } from '../../plugins/install/install.ts';

/** Creates what installing plugins needs of this machine: npm, git, the environment. */
export function createInstallTools(
  { print, signal }: CommandContext,
  { surroundings, workspaceRoots }: Pick<Host, 'surroundings' | 'workspaceRoots'>,
): InstallTools {
  const { env: base, platform, home } = surroundings;
  const env = cleanEnvironment(
    buildChildEnvironment({ base, withhold: PROVIDER_KEYS, pass: [], add: {}, platform }),
    listUntrustedDirectories(workspaceRoots, home),
    platform,
  );
  return {
    findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
    env,
    signal,
    onProgress: (doing) => print.progress(doing),
    now: () => systemClock.now(),
  };
}

/** Lists the directories that are searched for plugins: the user's, then those of the workspace. */
export function listPluginPlaces(
  host: Pick<Host, 'surroundings' | 'workspaceRoots'>,
): readonly PluginsPlace[] {
  return DIALECTS.flatMap(({ pluginDirectories }) => pluginDirectories?.(host) ?? []);
}
