import { existsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { HooklineError } from '../../../base/errors.ts';
import type { Surroundings } from '../../../dialects/machine.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import { findClineDirectory, findDocuments } from '../../../dialects/shared-directories.ts';
import { installPlugin as install, type PluginsPlace } from '../../../plugins/install/install.ts';
import {
  listInstalled,
  matchInstalled,
  removeInstalled,
} from '../../../plugins/install/installed.ts';
import { parseSource } from '../../../plugins/install/parse-source.ts';
import type { Source } from '../../../plugins/install/source.ts';
import { buildChildEnvironment, PROVIDER_KEYS } from '../../../process/environment.ts';
import { cleanEnvironment, listUntrustedDirectories } from '../../../process/search-path.ts';
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
  const { env: base, platform, home, cwd } = surroundings;
  const env = cleanEnvironment(
    buildChildEnvironment({ base, withhold: PROVIDER_KEYS, pass: [], add: {}, platform }),
    listUntrustedDirectories([cwd], home),
    platform,
  );
  const installed = await install(
    {
      source: toSource(options),
      place: resolvePlace(options, surroundings),
      isForced: options.force === true,
    },
    {
      findProgram: createProgramFinder(env['PATH'], platform, env['PATHEXT']),
      env,
      signal: options.signal ?? new AbortController().signal,
      onProgress: () => undefined,
      now: () => systemClock.now(),
    },
  );
  const { directory: installPath, entryPaths } = installed;
  return { source: options.source, installPath, entryPaths: [...entryPaths] };
}

export interface PluginUninstallOptions {
  /** Its name, that of its package, or that of its directory or file. */
  name?: string;
  /** Where it is installed, or one of its entry files. */
  path?: string;
  /** The workspace whose plugins are searched besides the user's. */
  cwd?: string;
  workspaceRoot?: string;
}

export interface PluginUninstallResult {
  name: string;
  installPath: string;
  removedPaths: string[];
  entryPaths: string[];
}

/** Removes the plugin at this path, or of this name; throws USAGE_INVALID when there is none, or several. */
export async function uninstallPlugin(
  options: PluginUninstallOptions,
): Promise<PluginUninstallResult> {
  const surroundings = readSurroundings();
  const { path: written, name } = options;
  const workspaces = [options.workspaceRoot, options.cwd].filter((each) => each !== undefined);
  const cwd = path.resolve(surroundings.cwd, options.cwd ?? '');
  const file = written === undefined ? null : path.resolve(cwd, written);
  const wanted = file ?? name ?? refuseNameless();
  const places = [
    ...workspaces.map((each) => resolvePlace({ cwd: each }, surroundings)),
    ...(file === null ? [] : findPlaceOf(file)),
    ...listUserPlaces(surroundings),
  ];
  const unique = [...new Map(places.map((place) => [place.directory, place])).values()];
  const all = unique.flatMap((place) => listInstalled(place));
  const [found, ...others] = matchInstalled(all, wanted, cwd);
  if (found === undefined || others.length > 0) {
    throw createAmbiguousError(wanted, file !== null, others.length);
  }
  removeInstalled(found);
  const { path: installPath, entryPaths } = found;
  const removedPaths = [installPath];
  return { name: found.name, installPath, removedPaths, entryPaths: [...entryPaths] };
}

function refuseNameless(): never {
  throw new HooklineError('USAGE_INVALID', {
    message: 'expected the name or the path of a plugin, found neither',
    hint: 'For example uninstallPlugin({ name: "my-plugin" }).',
  });
}

/** The plugins directory of a workspace that a path leads into. */
function findPlaceOf(file: string): readonly PluginsPlace[] {
  const { workspace } =
    /^(?<workspace>.*?)[\\/]\.cline[\\/]plugins[\\/]/su.exec(file)?.groups ?? {};
  if (workspace === undefined) return [];
  return [{ directory: path.join(workspace, '.cline', 'plugins'), workspace }];
}

/** The user's own directories of plugins. */
function listUserPlaces(surroundings: Surroundings): readonly PluginsPlace[] {
  const own = findClineDirectory(surroundings);
  const documents = findDocuments(surroundings).map((each) => path.join(each, 'Cline', 'Plugins'));
  const directories = [...(own === null ? [] : [path.join(own, 'plugins')]), ...documents];
  return directories.map((directory) => ({ directory, workspace: null }));
}

function createAmbiguousError(wanted: string, isPath: boolean, others: number): HooklineError {
  const found = others === 0 ? 'none' : `${others + 1}`;
  const how = isPath ? 'at' : 'named';
  return new HooklineError('USAGE_INVALID', {
    message: `expected one plugin ${how} ${JSON.stringify(wanted)}, found ${found}`,
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
