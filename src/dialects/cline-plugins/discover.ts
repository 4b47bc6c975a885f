import path from 'node:path';
import { memoize } from '../../base/memoize.ts';
import { isInside } from '../../base/paths.ts';
import type { Discoverer } from '../dialect.ts';
import type { Discovery, FoundPlugin, Ignored } from '../discovery.ts';
import { computeBinds } from './binding.ts';
import {
  findPlugins,
  type NamedPlugin,
  listPluginRoots,
  type PluginPlaces,
} from './find-plugins.ts';
import { readConfigObject } from '../read-config-text.ts';
import { readUserServers } from '../read-user-servers.ts';
import { findOwningRoot } from '../workspace-roots.ts';

/** Discovers plugins on disk, which are trusted, locked and disabled like hooks. A session loads them. */
export function createPluginDiscoverer(places: PluginPlaces): Discoverer {
  return {
    readUserServers: () => readUserServers(places.clineServers, places),
    discover(): Discovery {
      const { plugins, ignored } = findPlugins(places);
      const off = plugins.length === 0 ? NONE_OFF : readSwitchedOff(places);
      return {
        hooks: [],
        plugins: plugins.map((plugin) => createFoundPlugin(plugin, off.findReason(plugin))),
        ignored: [...ignored, ...off.ignored],
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
  // Computed on first use, because it parses the imports of the plugin.
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
      // Of two plugins with one name, which is the first depends on what else exists.
      identity: entry.file,
      ...(whyOff === null ? {} : { whyOff }),
      ...(problem === null ? {} : { runsNothing: true }),
      ...(problem !== null && plugin.isReported ? { mistakes: [problem] } : {}),
      get notes() {
        return bound().notes;
      },
      problem,
      details: describeDetails(plugin),
    },
    entry,
  };
}

/** Trust covers files of the workspace only, so changes of a package outside could not be detected. */
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

// The directories of installed plugins, by the kind of their source.
const INSTALLED = ['', 'npm', 'git', 'remote', 'official', 'local'];

/** Lists the places of plugins, the directories of found plugins, and that of Cline's settings. */
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

/** Which plugins Cline's settings disable. */
interface SwitchedOff {
  /** Returns why a plugin is disabled in Cline, or null. */
  readonly findReason: (plugin: NamedPlugin) => string | null;
  readonly ignored: readonly Ignored[];
}

const NONE_OFF: SwitchedOff = { findReason: () => null, ignored: [] };

/** Reads which plugins Cline's settings disable; the settings are never written. */
function readSwitchedOff(places: PluginPlaces): SwitchedOff {
  const { clineSettings: file } = places;
  if (file === null) return NONE_OFF;
  const { value, problem } = readConfigObject(file);
  if (problem !== null) {
    const why = `${problem.why}; plugins that it disables in Cline are not disabled here`;
    return { ...NONE_OFF, ignored: [{ path: file, why }] };
  }
  const listed = value?.['disabledPlugins'];
  const disabled: readonly unknown[] = Array.isArray(listed) ? listed : [];
  if (disabled.length === 0) return NONE_OFF;
  // A settings file in a repository affects only plugins of that repository.
  const owner = findOwningRoot(file, places);
  return {
    ...NONE_OFF,
    findReason({ entry, root }) {
      const isNamed = disabled.includes(entry.path) || disabled.includes(entry.file);
      const isReached = owner === null || owner === root;
      return isNamed && isReached ? `disabled in Cline: "disabledPlugins" of ${file}` : null;
    },
  };
}
