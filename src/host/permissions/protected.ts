import path from 'node:path';
import { createProtectedPlaces, type ProtectedPlaces } from '../../permissions/protected-places.ts';
import { clinePlaces } from '../dialects/cline.ts';
import { claudeDirectory, clineDirectory } from '../dialects/own-directory.ts';
import { clineServersFile } from '../mcp/own-servers.ts';
import type { OpenedHooks } from '../open-hooks.ts';

const IN_CLAUDE = ['settings.json', 'hooks', 'plugins', 'skills', 'agents'];
const IN_CLINE = ['hooks.json', 'hooks', 'plugins'];

/** The usual places are known by their names; here are those that this machine or this caller moved. */
export function protectedPlacesOf(opened: OpenedHooks): ProtectedPlaces {
  const { surroundings, stateDirectory, workspaceRoots, hookSet } = opened;
  const { documents, hooksDirectory } = clinePlaces({
    surroundings,
    workspaceRoots,
    hooksDirectory: null,
  });
  const clineServers = clineServersFile(opened);
  const hookFiles = hookSet.found().filter(({ line }) => line === null);
  return createProtectedPlaces({
    home: surroundings.home,
    directories: [
      ...(stateDirectory === null ? [] : [stateDirectory]),
      ...namesIn(claudeDirectory(surroundings), IN_CLAUDE),
      ...namesIn(clineDirectory(surroundings), IN_CLINE),
      ...documents.map((directory) => path.join(directory, 'Cline', 'Hooks')),
      ...documents.map((directory) => path.join(directory, 'Cline', 'Rules', 'Hooks')),
      ...(hooksDirectory === null ? [] : [hooksDirectory]),
      ...(clineServers === null ? [] : [clineServers]),
      ...new Set(hookFiles.map((hook) => path.dirname(hook.path))),
    ],
  });
}

function namesIn(directory: string | null, names: readonly string[]): readonly string[] {
  return directory === null ? [] : names.map((name) => path.join(directory, name));
}
