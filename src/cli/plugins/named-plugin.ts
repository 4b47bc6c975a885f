import { existsSync } from 'node:fs';
import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { findRealPath } from '../../base/paths.ts';
import type { Host } from '../../host/create-host.ts';
import { readSurroundings } from '../../host/surroundings.ts';
import { type CommandContext, rejectInsideSession, withHost, canAsk } from '../context.ts';
import { trustHooksIn } from '../commands/trust.ts';
import {
  collectPlugins,
  type ListedPlugin,
  selectPluginsBelow,
  selectPlugin,
} from './select-plugins.ts';
import { readOwnName } from './inspect.ts';

/** Opens a host with the plugins that the user names by path or name. */
export async function withNamedPlugins<Result>(
  context: CommandContext,
  nameOrPath: string,
  work: (plugins: readonly ListedPlugin[], host: Host) => Promise<Result>,
): Promise<Result> {
  const pluginPath = findPlace(nameOrPath);
  const extra = pluginPath === null ? {} : { pluginPaths: [pluginPath] };
  return withHost(
    context,
    async (host) => {
      const plugins =
        pluginPath === null
          ? await findNamed(host, context, nameOrPath)
          : selectBelow(collectPlugins(host), pluginPath);
      return work(plugins, host);
    },
    extra,
  );
}

/** Finds the plugin with this name; if there is none, the one whose code has this name. */
export async function findNamed(
  host: Host,
  context: CommandContext,
  pluginName: string,
): Promise<readonly ListedPlugin[]> {
  const all = collectPlugins(host);
  try {
    return selectPlugin(all, pluginName, host.surroundings.cwd);
  } catch (error) {
    const own = await filterByOwnName(pluginName, all, host, context);
    if (own.length === 1) return own;
    throw error;
  }
}

/** Loads plugins one after the other, because each of them prints to the same console. */
async function filterByOwnName(
  pluginName: string,
  all: readonly ListedPlugin[],
  host: Host,
  context: CommandContext,
): Promise<readonly ListedPlugin[]> {
  const own: ListedPlugin[] = [];
  for (const plugin of all.filter(({ status }) => status.state === 'ready')) {
    const name = await readOwnName(plugin, host, context);
    if (name?.toLowerCase() === pluginName.toLowerCase()) own.push(plugin);
  }
  return own;
}

function findPlace(nameOrPath: string): string | null {
  const pluginPath = path.resolve(readSurroundings().cwd, nameOrPath);
  return existsSync(pluginPath) ? pluginPath : null;
}

function selectBelow(all: readonly ListedPlugin[], place: string): readonly ListedPlugin[] {
  const real = findRealPath(place) ?? place;
  const pluginsBelow = [
    ...new Set([...selectPluginsBelow(all, place), ...selectPluginsBelow(all, real)]),
  ];
  if (pluginsBelow.length > 0) return dropRepeatedProblems(pluginsBelow);
  throw new HooklineError('PLUGIN_UNKNOWN', {
    message: `no plugin found at ${place}`,
    hint: 'Expected a .ts, .mts, .js or .mjs file, or a directory with one.',
  });
}

/** A package that cannot be read is found in its directory and at the path that was passed. */
function dropRepeatedProblems(plugins: readonly ListedPlugin[]): readonly ListedPlugin[] {
  const problems = new Set<string>();
  return plugins.filter(({ status: { hook } }) => {
    if (hook.problem === null) return true;
    const isNew = !problems.has(hook.problem);
    problems.add(hook.problem);
    return isNew;
  });
}

/**
 * Asks the user to trust a plugin, unless `yes` says that they reviewed it; explains why it still may
 * not be loaded, or returns null.
 */
export async function explainNotLoaded(
  plugin: ListedPlugin,
  host: Host,
  context: CommandContext,
  yes: boolean,
): Promise<string | null> {
  const { hook, trustedBy } = plugin.status;
  if (trustedBy === null && yes) await trustWithoutAsking(hook.id, host, context);
  else if (trustedBy === null && context.flags.json !== true && canAsk(context)) {
    await trustHooksIn(host, context, [hook.id]);
  }
  const now = host.hooks().find((status) => status.hook.id === hook.id) ?? plugin.status;
  if (now.state === 'ready') return null;
  if (now.trustedBy !== null) return `${now.state}: ${now.why}`;
  return `${now.state}: ${now.why}; it does not run until it is trusted: review it, then pass --yes, or a lock with --lock`;
}

/** What is trusted is printed on stderr, because stdout is for the command's own answer. */
async function trustWithoutAsking(id: string, host: Host, context: CommandContext): Promise<void> {
  rejectInsideSession(context, 'plugin … --yes');
  const printNote = (text: string): void => context.print.note(text);
  const quietContext = {
    ...context,
    flags: { ...context.flags, json: false },
    print: { ...context.print, out: printNote },
  };
  await trustHooksIn(host, quietContext, [id], { yes: true });
}
