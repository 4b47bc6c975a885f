import { HooklineError, isHooklineError } from '../../../base/errors.ts';
import type { Host } from '../../../host/create-host.ts';
import {
  type InstalledPlugin,
  listInstalled,
  matchInstalled,
} from '../../../plugins/install/installed.ts';
import { type Update, updatePlugin } from '../../../plugins/install/install.ts';
import { type Command, type CommandContext, rejectInsideSession, withHost } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { markAsKnown, askForTrust, filterUntrusted } from '../../plugins/trust-installed.ts';
import { findPlugins, selectPluginsBelow } from '../../plugins/find-plugins.ts';
import { createInstallTools, listPluginPlaces } from '../../plugins/install-tools.ts';
import { formatVersionChange, formatInstallVersion } from '../../output/format-plugin.ts';
import { toOneLine, toPrintable } from '../../output/print.ts';

export interface UpdateOptions {
  readonly name?: string;
  readonly dryRun?: boolean;
}

/** `hookline plugin update [NAME]`: one that cannot be updated stays as it is, and costs the others nothing. */
export const update: Command<UpdateOptions> = (context, { name, dryRun }) => {
  rejectInsideSession(context, 'plugin update');
  return withHost(context, async (host) => {
    const isDry = dryRun === true;
    const outcomes: Outcome[] = [];
    for (const plugin of choose(host, name)) {
      const outcome = await tryUpdate(plugin, { context, host, isDry });
      outcomes.push(outcome);
      if (context.flags.json !== true) context.print.out(describe(outcome, isDry));
    }
    const answer = { dryRun: isDry, plugins: outcomes.map(toJson) };
    if (context.flags.json === true) context.print.json(answer);
    else if (outcomes.length === 0) context.print.out(NOTHING);
    await askAgain(context, host, outcomes);
    return outcomes.some(({ problem }) => problem !== null) ? EXIT.refused : EXIT.fine;
  });
};

const NOTHING =
  'No plugin is installed that could be updated. `hookline plugin install` installs one.';

interface Outcome {
  readonly plugin: InstalledPlugin;
  readonly update: Update | null;
  readonly problem: HooklineError | null;
}

function choose(host: Host, name: string | undefined): readonly InstalledPlugin[] {
  const all = listPluginPlaces(host).flatMap(listInstalled);
  if (name === undefined) return all.filter(({ record }) => record !== null);
  const named = matchInstalled(all, name, host.surroundings.cwd);
  if (named.length > 0) return named;
  throw new HooklineError('PLUGIN_UNKNOWN', {
    message: `plugin ${JSON.stringify(name)} not found`,
    hint: '`hookline plugin list` shows all.',
  });
}

interface Trying {
  readonly context: CommandContext;
  readonly host: Host;
  readonly isDry: boolean;
}

async function tryUpdate(
  plugin: InstalledPlugin,
  { context, host, isDry }: Trying,
): Promise<Outcome> {
  const { path: directory, place } = plugin;
  try {
    refuseUntrusted(plugin, host);
    const request = { directory, place, home: host.surroundings.home, isDry };
    const made = await updatePlugin(request, createInstallTools(context, host));
    return { plugin, update: made, problem: null };
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    return { plugin, update: null, problem: error };
  }
}

/** A workspace says itself where its plugins come from: who has not looked at that fetches nothing. */
function refuseUntrusted({ path: directory, place, name }: InstalledPlugin, host: Host): void {
  if (place.workspace === null) return;
  const found = selectPluginsBelow(findPlugins(host), directory);
  if (found.length > 0 && filterUntrusted(found).length === 0) return;
  throw new HooklineError('PLUGIN_INSTALL_FAILED', {
    message: `${name} is not trusted here, and neither is where it says that it comes from`,
    hint: 'Look at it with `hookline trust`, or install it again with --force.',
  });
}

function describe({ plugin, update: made, problem }: Outcome, isDry: boolean): string {
  const name = toOneLine(plugin.name);
  if (made === null) return describeNotUpdated(name, problem);
  if (!made.isNew) return `${name}: ${formatInstallVersion(made.before)} is the newest.`;
  return `${name}: ${formatVersionChange(made.before, made.after)}${isDry ? ' (nothing was changed)' : ''}`;
}

function describeNotUpdated(name: string, problem: HooklineError | null): string {
  const { message = '', hint } = problem ?? {};
  const advice = hint === undefined ? '' : `\n  ${toPrintable(hint)}`;
  return `${name}: not updated: ${toPrintable(message)}${advice}`;
}

function toJson({ plugin, update: made, problem }: Outcome) {
  const { name, path: installPath } = plugin;
  if (made === null) return { name, installPath, isNew: false, problem: problem?.message ?? null };
  const { before, after, isNew } = made;
  return { name, installPath, isNew, before, after, problem: null };
}

/** What a workspace's plugin has become is looked at again. */
async function askAgain(
  context: CommandContext,
  host: Host,
  outcomes: readonly Outcome[],
): Promise<void> {
  const changed = outcomes.filter(({ update: made }) => made !== null && made.install !== null);
  if (changed.length === 0) return;
  host.rescan();
  await markAsKnown(
    context,
    changed.map(({ plugin }) => plugin.path),
  );
  const all = findPlugins(host);
  const found = changed.flatMap(({ plugin }) => selectPluginsBelow(all, plugin.path));
  await askForTrust(context, host, filterUntrusted(found));
}
