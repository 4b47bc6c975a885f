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
import { collectPlugins, selectPluginsBelow } from '../../plugins/select-plugins.ts';
import { createInstallTools, listPluginPlaces } from '../../plugins/install-tools.ts';
import type { InstallRecord } from '../../../plugins/install/record.ts';
import { toOneLine, toPrintable } from '../../output/print.ts';

/** `hookline plugin update [NAME]`: a failed update leaves its plugin as it is, and the others go on. */
export const update: Command<{
  readonly name?: string;
  readonly dryRun?: boolean;
}> = (context, { name, dryRun }) => {
  rejectInsideSession(context, 'plugin update');
  return withHost(context, async (host) => {
    const isDry = dryRun === true;
    const outcomes: Outcome[] = [];
    for (const plugin of selectInstalled(host, name)) {
      const outcome = await tryUpdate(plugin, context, host, isDry);
      outcomes.push(outcome);
      if (context.flags.json !== true) context.print.out(formatOutcome(outcome, isDry));
    }
    const answer = { dryRun: isDry, plugins: outcomes.map(toJson) };
    if (context.flags.json === true) context.print.json(answer);
    else if (outcomes.length === 0) context.print.out(NOTHING);
    await reviewChanged(context, host, outcomes);
    return outcomes.some(({ problem }) => problem !== null) ? EXIT.refused : EXIT.fine;
  });
};

const NOTHING = 'No installed plugins to update. Install one with `hookline plugin install`.';

interface Outcome {
  readonly plugin: InstalledPlugin;
  readonly update: Update | null;
  readonly problem: HooklineError | null;
}

function selectInstalled(host: Host, name: string | undefined): readonly InstalledPlugin[] {
  const all = listPluginPlaces(host).flatMap(listInstalled);
  if (name === undefined) return all.filter(({ record }) => record !== null);
  const matches = matchInstalled(all, name, host.surroundings.cwd);
  if (matches.length > 0) return matches;
  throw new HooklineError('PLUGIN_UNKNOWN', {
    message: `plugin ${JSON.stringify(name)} not found`,
    hint: 'Run `hookline plugin list`.',
  });
}

async function tryUpdate(
  plugin: InstalledPlugin,
  context: CommandContext,
  host: Host,
  isDry: boolean,
): Promise<Outcome> {
  const { path: directory, place } = plugin;
  try {
    refuseUntrusted(plugin, host);
    const request = { directory, place, home: host.surroundings.home, isDry };
    const updated = await updatePlugin(request, createInstallTools(context, host));
    return { plugin, update: updated, problem: null };
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    return { plugin, update: null, problem: error };
  }
}

/** A workspace names the sources of its plugins itself, so that nothing is fetched before it is trusted. */
function refuseUntrusted({ path: directory, place, name }: InstalledPlugin, host: Host): void {
  if (place.workspace === null) return;
  const found = selectPluginsBelow(collectPlugins(host), directory);
  if (found.length > 0 && filterUntrusted(found).length === 0) return;
  throw new HooklineError('PLUGIN_INSTALL_FAILED', {
    message: `${name} is not trusted here, so the source in its record is not either`,
    hint: 'Review it with `hookline trust`, or install it again with --force.',
  });
}

function formatOutcome({ plugin, update: updated, problem }: Outcome, isDry: boolean): string {
  const name = toOneLine(plugin.name);
  if (updated === null) return describeNotUpdated(name, problem);
  if (!updated.isNew) {
    return `${name}: ${formatInstallVersion(updated.before)} is the latest version.`;
  }
  return `${name}: ${formatVersionChange(updated.before, updated.after)}${isDry ? ' (nothing was changed)' : ''}`;
}

function describeNotUpdated(name: string, problem: HooklineError | null): string {
  const { message = '', hint } = problem ?? {};
  const advice = hint === undefined ? '' : `\n  ${toPrintable(hint)}`;
  return `${name}: not updated: ${toPrintable(message)}${advice}`;
}

function toJson({ plugin, update: updated, problem }: Outcome) {
  const { name, path: installPath } = plugin;
  if (updated === null) {
    return { name, installPath, isNew: false, problem: problem?.message ?? null };
  }
  const { before, after, isNew } = updated;
  return { name, installPath, isNew, before, after, problem: null };
}

/** Asks for trust again in the plugins of a workspace that changed. */
async function reviewChanged(
  context: CommandContext,
  host: Host,
  outcomes: readonly Outcome[],
): Promise<void> {
  const changed = outcomes.filter(
    ({ update: updated }) => updated !== null && updated.install !== null,
  );
  if (changed.length === 0) return;
  host.rescan();
  await markAsKnown(
    context,
    changed.map(({ plugin }) => plugin.path),
  );
  const all = collectPlugins(host);
  const found = changed.flatMap(({ plugin }) => selectPluginsBelow(all, plugin.path));
  await askForTrust(context, host, filterUntrusted(found));
}

/** Identifies an installed version. */
function formatInstallVersion({ version, commit, sha256 }: InstallRecord): string {
  const marks = [version, commit === null ? null : commit.slice(0, 12)].filter(
    (each) => each !== null,
  );
  return toOneLine(marks.length === 0 ? `sha256 ${sha256.slice(0, 12)}` : marks.join(' at '));
}

/** `1.0.0 → 1.1.0`; for an equal version, the hashes. */
function formatVersionChange(before: InstallRecord, after: InstallRecord): string {
  const [old, now] = [formatInstallVersion(before), formatInstallVersion(after)];
  if (old !== now) return `${old} → ${now}`;
  return `${now}, content changed: sha256 ${before.sha256.slice(0, 12)} → ${after.sha256.slice(0, 12)}`;
}
