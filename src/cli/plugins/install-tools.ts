import { systemClock } from '../../base/clock.ts';
import type { Host } from '../../host/create-host.ts';
import type { InstallTools } from '../../plugins/install/fetch/tools.ts';
import { childEnvironment, PROVIDER_KEYS } from '../../process/environment.ts';
import { createProgramFinder } from '../../process/program-finder.ts';
import type { CommandContext } from '../context.ts';

/** npm, git and the rest of this machine, for whoever installs plugins. */
export function installTools(
  { print, signal }: CommandContext,
  { surroundings }: Pick<Host, 'surroundings'>,
): InstallTools {
  const { env, platform } = surroundings;
  return {
    findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
    env: childEnvironment({ base: env, withhold: PROVIDER_KEYS, pass: [], add: {}, platform }),
    signal,
    onProgress: (doing) => print.progress(doing),
    now: () => systemClock.now(),
  };
}
