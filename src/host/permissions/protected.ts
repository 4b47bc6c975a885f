import path from 'node:path';
import { isInside } from '../../base/paths.ts';
import { createProtectedPaths, type ProtectedPaths } from '../../permissions/protected-places.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import { clinePlaces } from '../dialects/cline.ts';
import { claudeDirectory, clineDirectory } from '../dialects/own-directory.ts';
import { getClineServersFile } from '../mcp/own-servers.ts';
import type { OpenedHooks } from '../open-hooks.ts';

const IN_CLAUDE = ['settings.json', 'hooks', 'plugins', 'skills', 'agents'];
const IN_CLINE = ['hooks.json', 'hooks', 'plugins'];

/** The usual places are known by their names; here are those that this machine or this caller moved. */
export function createHostProtectedPaths(opened: OpenedHooks): ProtectedPaths {
  const { surroundings, stateDirectory, workspaceRoots, hookSet } = opened;
  const { documents, hooksDirectory } = clinePlaces({
    surroundings,
    workspaceRoots,
    hooksDirectory: null,
  });
  const clineServers = getClineServersFile(opened);
  const found = hookSet.found();
  const hookFiles = found.filter(({ line, plugin }) => line === null && plugin === undefined);
  return createProtectedPaths({
    home: surroundings.home,
    directories: [
      ...(stateDirectory === null ? [] : [stateDirectory]),
      ...namesIn(claudeDirectory(surroundings), IN_CLAUDE),
      ...namesIn(clineDirectory(surroundings), IN_CLINE),
      ...documents.map((directory) => path.join(directory, 'Cline', 'Hooks')),
      ...documents.map((directory) => path.join(directory, 'Cline', 'Rules', 'Hooks')),
      ...documents.map((directory) => path.join(directory, 'Cline', 'Plugins')),
      ...(hooksDirectory === null ? [] : [hooksDirectory]),
      ...(clineServers === null ? [] : [clineServers]),
      ...new Set(hookFiles.map((hook) => path.dirname(hook.path))),
      ...found.flatMap(({ plugin }) => (plugin === undefined ? [] : placesOf(plugin, opened))),
    ],
  });
}

/** All that a plugin is made of, unless that is what the agent works on: then its file alone. */
function placesOf(
  { file, package: owner }: PluginEntry,
  { workspaceRoots }: OpenedHooks,
): readonly string[] {
  const directory = owner?.directory ?? path.dirname(file);
  const isWorkspace = workspaceRoots.some((root) => isInside(directory, root));
  return isWorkspace ? [file] : [directory];
}

function namesIn(directory: string | null, names: readonly string[]): readonly string[] {
  return directory === null ? [] : names.map((name) => path.join(directory, name));
}
