import { HooklineError, isHooklineError } from '../../../base/errors.ts';
import { findClosestName } from '../../../base/did-you-mean.ts';
import type { Host } from '../../../host/create-host.ts';
import { isEntryForHook } from '../../../host/disabled-hooks.ts';
import {
  type InstalledPlugin,
  listInstalled,
  matchInstalled,
  removeInstalled,
} from '../../../plugins/install/installed.ts';
import { revokeTrust } from '../../../trust/trust-record.ts';
import { confirm, type Command, rejectInsideSession, withHost } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import {
  collectPlugins,
  type ListedPlugin,
  selectPluginsBelow,
} from '../../plugins/select-plugins.ts';
import { listPluginPlaces } from '../../plugins/install-tools.ts';
import { editDisabledHooks } from '../../config-files/disabled-hooks.ts';
import { formatTrustNotes, preserveTrust } from '../../config-files/preserve-trust.ts';
import { toOneLine } from '../../output/print.ts';

/** `hookline plugin uninstall NAME`: asks before it deletes a plugin that was only copied there. */
export const uninstall: Command<{
  readonly name: string;
  readonly yes?: boolean;
}> = (context, { name, yes }) => {
  rejectInsideSession(context, 'plugin uninstall');
  return withHost(context, async (host) => {
    const plugin = findOne(host, name);
    const question = `Delete ${toOneLine(plugin.path)}? There may be no other copy of it.`;
    const needsConfirmation = plugin.isDroppedIn && yes !== true;
    if (needsConfirmation && !(await confirm(context, { text: question, flag: '--yes' }))) {
      context.print.note('Nothing was deleted.');
      return EXIT.refused;
    }
    const gone = selectPluginsBelow(collectPlugins(host), plugin.path);
    const preserved = await preserveTrust(context, host, () => removeInstalled(plugin));
    await removeDecisions(host, gone);
    for (const note of formatTrustNotes(preserved)) context.print.note(note);
    const { path: installPath, entryPaths } = plugin;
    if (context.flags.json === true) {
      const removedPaths = [installPath];
      context.print.json({ name: plugin.name, installPath, removedPaths, entryPaths });
    } else context.print.out(`Removed ${toOneLine(plugin.name)} (${toOneLine(installPath)}).`);
    return EXIT.fine;
  });
};

function findOne(host: Host, name: string): InstalledPlugin {
  const all = listPluginPlaces(host).flatMap(listInstalled);
  const [found, ...others] = matchInstalled(all, name, host.surroundings.cwd);
  if (found !== undefined && others.length === 0) return found;
  if (found === undefined) throw createUnknownError(all, name);
  throw new HooklineError('PLUGIN_UNKNOWN', {
    message: `several plugins are called ${JSON.stringify(name)}: ${[found, ...others].map((each) => each.path).join(', ')}`,
    hint: 'Pass the path of one of them.',
  });
}

function createUnknownError(all: readonly InstalledPlugin[], name: string): HooklineError {
  const names = all.flatMap((each) => each.names);
  const close = findClosestName(name, names);
  const there = [...new Set(all.map((each) => each.name))].join(', ');
  const others = there === '' ? 'No plugins are installed.' : `Plugins: ${there}.`;
  return new HooklineError('PLUGIN_UNKNOWN', {
    message: `plugin ${JSON.stringify(name)} not found`,
    hint: close === null ? others : `Did you mean ${close}?`,
  });
}

/** Removes trust and disabled entries of a removed plugin, so that a new plugin there needs a review. */
async function removeDecisions(host: Host, gone: readonly ListedPlugin[]): Promise<void> {
  const { trust } = host;
  for (const { status } of gone) {
    const { root, ownId } = status.hook;
    if (root === null || trust.files === null || isHooklineError(trust.record)) continue;
    await revokeTrust(trust.files, { root, ids: [ownId], guardedRoots: trust.guardedRoots });
  }
  const isSwitchedOff = gone.some(({ status }) => !status.isEnabled);
  if (!isSwitchedOff) return;
  await editDisabledHooks(host, (disabled) =>
    disabled.filter((entry) => !gone.some(({ status }) => isEntryForHook(entry, status.hook))),
  );
}
