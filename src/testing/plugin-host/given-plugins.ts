import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HooklineError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import type { AgentPlugin } from '../../plugins/contract/plugin.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import { pluginsAt } from '../../plugins/find/find-plugins.ts';
import { loadPlugin } from '../../plugins/load/load-plugin.ts';
import { loadProvidedModules } from '../../sdk/provided/load-provided.ts';

/** A plugin, several of them, or where they lie: a file, a package, a directory with plugins. */
export type GivenPlugins = AgentPlugin | readonly AgentPlugin[] | string | URL;

export interface LoadingPlace {
  readonly cwd: string;
  readonly cacheDirectory: string;
  readonly timeoutMs: number;
}

/** The plugins themselves. Throws PLUGIN_INVALID with everything that keeps one from being loaded. */
export async function pluginsOf(
  given: GivenPlugins,
  place: LoadingPlace,
): Promise<readonly AgentPlugin[]> {
  if (typeof given === 'string') return loadFrom(path.resolve(place.cwd, given), place);
  if (given instanceof URL) return loadFrom(fileURLToPath(given), place);
  return isList(given) ? given : [given];
}

function isList(given: AgentPlugin | readonly AgentPlugin[]): given is readonly AgentPlugin[] {
  return Array.isArray(given);
}

async function loadFrom(file: string, place: LoadingPlace): Promise<readonly AgentPlugin[]> {
  const { entries, problems } = pluginsAt(file);
  const outcomes = await Promise.all(entries.map((entry) => load(entry, place)));
  const wrong = [
    ...problems.map(({ message }) => message),
    ...outcomes.filter((each) => typeof each === 'string'),
  ];
  const plugins = outcomes.filter(isPlugin);
  if (wrong.length === 0 && plugins.length > 0) return plugins;
  throw new HooklineError('PLUGIN_INVALID', {
    message: wrong.length === 0 ? `expected a plugin at ${file}, found none` : wrong.join('; '),
    hint: 'A plugin is the default export of its module, or the one named "plugin".',
  });
}

/** What is wrong with it, as a sentence; null for a module that only others import. */
async function load(entry: PluginEntry, place: LoadingPlace): Promise<unknown> {
  const loading = await loadPlugin({
    entry,
    provided: await loadProvidedModules(),
    cacheDirectory: place.cacheDirectory,
    copy: randomUUID(),
    timeoutMs: place.timeoutMs,
  });
  if (loading.kind === 'helper') return null;
  return loading.kind === 'failed' ? loading.message : loading.plugin;
}

/** Whether it is a good one, the session says. */
function isPlugin(plugin: unknown): plugin is AgentPlugin {
  return isRecord(plugin);
}
