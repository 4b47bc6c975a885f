import type { Host } from '../../../host/create-host.ts';
import {
  disabledEntry,
  hasInheritedName,
  namesHook,
} from '../../../host/switches/disabled-hooks.ts';
import type { DisabledHook } from '../../../host/settings.ts';
import { type Command, refuseInsideSession, withHost } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { findPlugins, type FoundPlugin, selectPlugin } from '../../plugins/find-plugins.ts';
import { findNamed } from '../../plugins/named-plugin.ts';
import { editDisabled } from '../../state/edit-config.ts';
import { oneLine, printable } from '../../words/print.ts';

export interface SwitchOptions {
  readonly name: string;
}

/** `hookline plugin disable NAME`: in the person's own configuration; its files are not touched. */
export const disablePlugin: Command<SwitchOptions> = (context, { name }) => {
  refuseInsideSession(context, 'plugin disable');
  return withHost(context, async (host) => {
    const plugins = await findNamed(host, context, name);
    const file = await editDisabled(host, (disabled) => [
      ...withoutPlugins(disabled, plugins),
      ...plugins.map(({ status }) => disabledEntry(status.hook)),
    ]);
    const answer = { ...named(plugins), enabled: false, file };
    if (context.flags.json === true) context.print.json(answer);
    else context.print.out(`${getLabel(plugins)} is switched off (in ${oneLine(file)}).`);
    return EXIT.fine;
  });
};

/** `hookline plugin enable NAME` */
export const enablePlugin: Command<SwitchOptions> = (context, { name }) => {
  refuseInsideSession(context, 'plugin enable');
  return withHost(context, async (host) => {
    const plugins = selectPlugin(findPlugins(host), name, host.surroundings.cwd);
    const file = await editDisabled(host, (disabled) => withoutPlugins(disabled, plugins));
    const { whyOff } = plugins.find(isOffElsewhere)?.status.hook ?? {};
    const enabled = whyOff === undefined;
    const told = enabled ? `is switched on.${waiting(plugins, host)}` : `stays off: ${whyOff}`;
    if (context.flags.json === true) context.print.json({ ...named(plugins), enabled, file });
    else context.print.out(`${getLabel(plugins)} ${printable(told)}`);
    return enabled ? EXIT.fine : EXIT.refused;
  });
};

function isOffElsewhere({ status }: FoundPlugin): boolean {
  return status.hook.whyOff !== undefined;
}

function withoutPlugins(
  disabled: readonly DisabledHook[],
  plugins: readonly FoundPlugin[],
): readonly DisabledHook[] {
  return disabled.filter(
    (entry) =>
      !plugins.some(
        ({ status: { hook } }) => namesHook(entry, hook) || hasInheritedName(entry, hook),
      ),
  );
}

function named(plugins: readonly FoundPlugin[]) {
  return {
    name: plugins[0]?.entry.label ?? null,
    ids: plugins.map(({ status }) => status.hook.id),
  };
}

function getLabel(plugins: readonly FoundPlugin[]): string {
  return oneLine(plugins[0]?.entry.label ?? 'it');
}

function waiting(plugins: readonly FoundPlugin[], host: Host): string {
  const isTrusted = plugins.every(({ status }) => status.trustedBy !== null);
  if (isTrusted) return '';
  const root = host.workspaceRoots[0] ?? '.';
  return ` It is loaded once it is trusted, in ${oneLine(root)}: \`hookline trust\`.`;
}
