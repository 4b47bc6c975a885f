import type { Host } from '../../../host/create-host.ts';
import {
  createDisabledEntry,
  hasInheritedName,
  isEntryForHook,
} from '../../../host/disabled-hooks.ts';
import type { DisabledHook } from '../../../host/settings.ts';
import { type Command, rejectInsideSession, withHost } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { collectPlugins, type ListedPlugin, selectPlugin } from '../../plugins/select-plugins.ts';
import { findNamed } from '../../plugins/named-plugin.ts';
import { editDisabledHooks } from '../../config-files/disabled-hooks.ts';
import { toOneLine, toPrintable } from '../../output/print.ts';

/** `hookline plugin disable NAME`: edits the user's configuration, not the plugin's files. */
export const disablePlugin: Command<{ readonly name: string }> = (context, { name }) => {
  rejectInsideSession(context, 'plugin disable');
  return withHost(context, async (host) => {
    const plugins = await findNamed(host, context, name);
    const file = await editDisabledHooks(host, (disabled) => [
      ...removePluginEntries(disabled, plugins),
      ...plugins.map(({ status }) => createDisabledEntry(status.hook)),
    ]);
    const answer = { ...describePlugin(plugins), enabled: false, file };
    if (context.flags.json === true) context.print.json(answer);
    else context.print.out(`Disabled ${getLabel(plugins)} (in ${toOneLine(file)}).`);
    return EXIT.fine;
  });
};

/** `hookline plugin enable NAME` */
export const enablePlugin: Command<{ readonly name: string }> = (context, { name }) => {
  rejectInsideSession(context, 'plugin enable');
  return withHost(context, async (host) => {
    const plugins = selectPlugin(collectPlugins(host), name, host.surroundings.cwd);
    const file = await editDisabledHooks(host, (disabled) =>
      removePluginEntries(disabled, plugins),
    );
    const { whyOff } = plugins.find(isOffElsewhere)?.status.hook ?? {};
    const enabled = whyOff === undefined;
    const label = getLabel(plugins);
    const message = enabled
      ? `Enabled ${label}.${formatTrustHint(plugins, host)}`
      : `${label} is still disabled: ${whyOff}`;
    const answer = { ...describePlugin(plugins), enabled, file };
    if (context.flags.json === true) context.print.json(answer);
    else context.print.out(toPrintable(message));
    return enabled ? EXIT.fine : EXIT.refused;
  });
};

function isOffElsewhere({ status }: ListedPlugin): boolean {
  return status.hook.whyOff !== undefined;
}

function removePluginEntries(
  disabled: readonly DisabledHook[],
  plugins: readonly ListedPlugin[],
): readonly DisabledHook[] {
  return disabled.filter(
    (entry) =>
      !plugins.some(
        ({ status: { hook } }) => isEntryForHook(entry, hook) || hasInheritedName(entry, hook),
      ),
  );
}

function describePlugin(plugins: readonly ListedPlugin[]) {
  return {
    name: plugins[0]?.entry.label ?? null,
    ids: plugins.map(({ status }) => status.hook.id),
  };
}

function getLabel(plugins: readonly ListedPlugin[]): string {
  return toOneLine(plugins[0]?.entry.label ?? 'it');
}

function formatTrustHint(plugins: readonly ListedPlugin[], host: Host): string {
  const isTrusted = plugins.every(({ status }) => status.trustedBy !== null);
  if (isTrusted) return '';
  const root = host.workspaceRoots[0] ?? '.';
  return ` It needs review: run \`hookline trust\` in ${toOneLine(root)}.`;
}
