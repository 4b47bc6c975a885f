import path from 'node:path';
import { memoize } from '../../base/memoize.ts';
import { isInside } from '../../base/paths.ts';
import type { Discoverer } from '../dialect.ts';
import type { Discovery, FoundPlugin } from '../discovery.ts';
import { computeBinds } from './binds.ts';
import { readSwitchedOff } from './disabled.ts';
import {
  discoverPlugins,
  type NamedPlugin,
  listPluginRoots,
  type PluginPlaces,
} from './discover.ts';

export interface ClinePluginOptions {
  readonly places: PluginPlaces;
}

/** Plugins on disk, to be trusted, locked and switched as hooks are. They are loaded with a session. */
export function createPluginDiscoverer({ places }: ClinePluginOptions): Discoverer {
  return {
    discover(): Discovery {
      const { plugins, ignored } = discoverPlugins(places);
      const whyOff = plugins.length === 0 ? () => null : readSwitchedOff(places);
      return {
        hooks: [],
        plugins: plugins.map((plugin) => createFoundPlugin(plugin, whyOff(plugin))),
        ignored,
        get watched() {
          return listWatched(plugins, places);
        },
      };
    },
  };
}

function createFoundPlugin(plugin: NamedPlugin, whyOff: string | null): FoundPlugin {
  const { id, ownId, entry, place, root } = plugin;
  const problem = plugin.problem ?? explainBeyondWorkspace(plugin);
  // Which files it imports, only those ask who ask for trust.
  const bound = memoize(() => computeBinds({ ...plugin, problem }));
  return {
    kind: 'plugin',
    unit: {
      id,
      ownId,
      dialect: 'plugin',
      eventName: 'plugin',
      path: entry.path,
      line: null,
      place,
      root,
      get binds() {
        return bound().binds;
      },
      // Two plugins may have one name, and which of them is the first changes with what lies there.
      identity: entry.file,
      ...(whyOff === null ? {} : { whyOff }),
      ...(problem === null ? {} : { runsNothing: true }),
      get notes() {
        return bound().notes;
      },
      problem,
      details: describeDetails(plugin),
    },
    entry,
  };
}

/** Trust reaches no further than the workspace, so that nobody could say what of it had changed. */
function explainBeyondWorkspace({ entry, root }: NamedPlugin): string | null {
  const directory = entry.package?.directory;
  if (root === null || directory === undefined) return null;
  if (isInside(root, directory) || isInside(directory, root)) return null;
  return `its package lies outside the workspace, in ${directory}, where trust cannot bind it; copy it into the workspace`;
}

function describeDetails({ entry, from }: NamedPlugin): Record<string, string> {
  const { label, capabilities } = entry;
  const { name, version, skills } = entry.package ?? { name: null, version: null, skills: null };
  return {
    source: from.label,
    name: label,
    ...(name === null ? {} : { package: version === null ? name : `${name}@${version}` }),
    ...(capabilities === null ? {} : { capabilities: capabilities.join(', ') }),
    ...(skills === null ? {} : { skills }),
  };
}

// Where installers put what they fetched, by where it comes from.
const INSTALLED = ['', 'npm', 'git', 'remote', 'official', 'local'];

/** The places of plugins, all directories in which one lies, and where Cline keeps its switches. */
function listWatched(plugins: readonly NamedPlugin[], places: PluginPlaces): readonly string[] {
  const { clineSettings, paths } = places;
  const roots = listPluginRoots(places).map((each) => each.path);
  const around = plugins.flatMap(({ entry }) => [
    path.dirname(entry.path),
    ...(entry.package === null ? [] : [entry.package.directory]),
  ]);
  return [
    ...new Set([
      ...roots,
      ...roots.flatMap((root) => INSTALLED.map((kind) => path.join(root, '_installed', kind))),
      ...paths,
      ...around,
      ...(clineSettings === null ? [] : [path.dirname(clineSettings)]),
    ]),
  ];
}
