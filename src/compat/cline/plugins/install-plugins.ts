import { existsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { HooklineError } from '../../../base/errors.ts';
import type { Surroundings } from '../../../dialects/machine.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import { findClineDirectory } from '../../../dialects/shared-directories.ts';
import { installPlugin as install, type PluginsPlace } from '../../../plugins/install/install.ts';
import {
  listInstalled,
  matchInstalled,
  removeInstalled,
} from '../../../plugins/install/installed.ts';
import { parseSource } from '../../../plugins/install/parse-source.ts';
import type { Source } from '../../../plugins/install/source.ts';
import { buildChildEnvironment, PROVIDER_KEYS } from '../../../process/environment.ts';
import { createProgramFinder } from '../../../process/program-finder.ts';
import type { PluginInstallSourceType } from './plugin-sources.ts';

export interface PluginInstallOptions {
  source: string;
  sourceType?: PluginInstallSourceType;
  /** The workspace that it is installed for; without one, the user. */
  cwd?: string;
  force?: boolean;
  signal?: AbortSignal;
}

export interface PluginInstallResult {
  source: string;
  installPath: string;
  entryPaths: string[];
}

/** Installs a plugin and runs nothing of it; the user trusts it with `hookline trust`. */
export async function installPlugin(options: PluginInstallOptions): Promise<PluginInstallResult> {
  const surroundings = readSurroundings();
  const { env, platform } = surroundings;
  const installed = await install(
    {
      source: toSource(options),
      place: resolvePlace(options, surroundings),
      isForced: options.force === true,
    },
    {
      findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
      env: buildChildEnvironment({
        base: env,
        withhold: PROVIDER_KEYS,
        pass: [],
        add: {},
        platform,
      }),
      signal: options.signal ?? new AbortController().signal,
      onProgress: () => undefined,
      now: () => systemClock.now(),
    },
  );
  const { directory: installPath, entryPaths } = installed;
  return { source: options.source, installPath, entryPaths: [...entryPaths] };
}

/** Removes the plugin of this name; throws USAGE_INVALID when there is none, or several. */
export async function uninstallPlugin(options: { name: string; cwd?: string }): Promise<{
  name: string;
  installPath: string;
  removedPaths: string[];
  entryPaths: string[];
}> {
  const surroundings = readSurroundings();
  const own = resolvePlace({}, surroundings);
  const places = options.cwd === undefined ? [own] : [resolvePlace(options, surroundings), own];
  const all = places.flatMap((place) => listInstalled(place));
  const [found, ...others] = matchInstalled(all, options.name, surroundings.cwd);
  if (found === undefined || others.length > 0) {
    throw createAmbiguousError(options.name, others.length);
  }
  removeInstalled(found);
  const { name, path: installPath, entryPaths } = found;
  return { name, installPath, removedPaths: [installPath], entryPaths: [...entryPaths] };
}

function createAmbiguousError(name: string, others: number): HooklineError {
  const found = others === 0 ? 'none' : `${others + 1}`;
  return new HooklineError('USAGE_INVALID', {
    message: `expected one plugin named ${JSON.stringify(name)}, found ${found}`,
    hint: 'Pass its path; `hookline plugin list` lists all.',
  });
}

function toSource({ source, sourceType, cwd }: PluginInstallOptions): Source {
  const surroundings = readSurroundings();
  const from = path.resolve(surroundings.cwd, cwd ?? '');
  const isPath = sourceType === 'local' && !/^[./~]/u.test(source);
  return parseSource(isPath ? `./${source}` : source, {
    cwd: from,
    home: surroundings.home,
    ...(sourceType === 'npm' || sourceType === 'git' ? { kind: sourceType } : {}),
    exists: (file) => existsSync(file),
  });
}

function resolvePlace(
  { cwd }: { readonly cwd?: string },
  surroundings: Surroundings,
): PluginsPlace {
  if (cwd !== undefined) {
    const workspace = path.resolve(surroundings.cwd, cwd);
    return { directory: path.join(workspace, '.cline', 'plugins'), workspace };
  }
  const own = findClineDirectory(surroundings);
  if (own !== null) return { directory: path.join(own, 'plugins'), workspace: null };
  throw new HooklineError('USAGE_INVALID', {
    message: 'no home directory to install plugins into',
    hint: 'Set HOME, or give the workspace as cwd.',
  });
}
