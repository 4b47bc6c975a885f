import path from 'node:path';
import { isInside } from '../../base/paths.ts';
import { createProtectedPlaces, type ProtectedPlaces } from '../../permissions/protected-places.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import { listProtectedPlaces } from '../../dialects/index.ts';
import { clineServersFile } from '../mcp/own-servers.ts';
import type { OpenedHooks } from '../open-hooks.ts';

/** The usual places are known by their names; here are those that this machine or this caller moved. */
export function protectedPlacesOf(opened: OpenedHooks): ProtectedPlaces {
  const { surroundings, stateDirectory, hookSet } = opened;
  const clineServers = clineServersFile(opened);
  const hookFiles = hookSet.hooks().filter(({ unit }) => unit.line === null);
  return createProtectedPlaces({
    home: surroundings.home,
    directories: [
      ...(stateDirectory === null ? [] : [stateDirectory]),
      ...listProtectedPlaces(opened),
      ...(clineServers === null ? [] : [clineServers]),
      ...new Set(hookFiles.map(({ unit }) => path.dirname(unit.path))),
      ...hookSet.plugins().flatMap(({ entry }) => placesOf(entry, opened)),
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
