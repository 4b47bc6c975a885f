import path from 'node:path';
import type { Dialect, MachinePlaces, PluginDirectory } from '../dialect.ts';
import { listNamedPaths, type PathOption } from '../options.ts';
import { listPluginRoots } from './find-plugins.ts';
import { pluginEvents } from './events.ts';
import { createPluginDiscoverer } from './discover.ts';
import { findPluginPlaces } from './machine.ts';

/** Files, packages and directories with plugins. */
const PLUGIN_PATHS: PathOption = { name: 'pluginPaths', isRepeatable: true };

/** Cline's plugins: modules whose hooks are functions, loaded with a session. */
export const clinePlugins = {
  name: 'plugin',
  label: 'Cline plugin',
  events: pluginEvents,
  vocabulary: 'sdk',
  options: { paths: [PLUGIN_PATHS] },
  discover: (machine) =>
    createPluginDiscoverer(
      findPluginPlaces(machine, listNamedPaths(machine.search.paths ?? {}, PLUGIN_PATHS)),
    ),
  templates: {
    about: 'a module',
    languages: ['node', 'ts'],
    load: async () => (await import('./templates/plan.ts')).planPlugin,
  },
  createPluginHandlers: async () => (await import('./handlers.ts')).createPluginHandlers,
  // What a hook throws is reported as a problem of its plugin; an invalid answer is not.
  reportedFailures: ['spawn', 'timeout', 'killed', 'exit', 'threw'],
  pluginDirectories: listPluginDirectories,
  ownPaths: {
    protected: ['.cline/plugins/', 'Documents/Cline/Plugins/'],
    inRoots: ['.cline/plugins'],
  },
  protectedPlaces: findProtectedPlaces,
} as const satisfies Dialect;

function listPluginDirectories(machine: MachinePlaces): readonly PluginDirectory[] {
  return listPluginRoots(findPluginPlaces(machine)).map(({ path: directory, root }) => ({
    directory,
    workspace: root,
  }));
}

function findProtectedPlaces(machine: MachinePlaces): readonly string[] {
  const { clineDirectory, documents, clineServers } = findPluginPlaces(machine);
  return [
    ...(clineDirectory === null ? [] : [path.join(clineDirectory, 'plugins')]),
    ...documents.map((each) => path.join(each, 'Cline', 'Plugins')),
    ...(clineServers === null ? [] : [clineServers]),
  ];
}
