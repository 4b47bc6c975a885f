import type { ClineFilesOptions } from '../dialects/cline-files/dialect.ts';
import type { Profile } from '../dialects/cline-files/names.ts';
import { createProgramFinder } from '../process/program-finder.ts';
import type { Surroundings } from './config.ts';
import type { Settings } from './settings.ts';
import { typescriptLoader } from './typescript-loader-path.ts';

/** How file hooks are started and read on this machine, with these settings. */
export function fileHookOptions(
  { platform, env, nodePath }: Surroundings,
  settings: Settings,
): Omit<ClineFilesOptions, 'places'> {
  return {
    machine: {
      platform,
      findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
      pathExt: env['PATHEXT'],
      nodePath,
      typescriptLoader,
    },
    profiles: profilesOf(settings),
    cancel: settings['cline.cancel'],
    maxContextChars: settings['cline.maxContextChars'],
  };
}

function profilesOf(settings: Settings): Record<string, Profile> {
  const chosen = Object.entries(settings['hooks.overrides']).flatMap(([id, { profile }]) =>
    profile === undefined ? [] : [[id, profile] as const],
  );
  return Object.fromEntries(chosen);
}
