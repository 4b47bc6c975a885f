import { HooklineError, invariant } from '../../base/errors.ts';
import type { Host } from '../../host/create-host.ts';
import { disabledEntry, hasInheritedName, namesHook } from '../../host/switches/disabled-hooks.ts';
import type { HookStatus } from '../../host/hook-set.ts';
import type { DisabledHook } from '../../host/settings.ts';
import { type Command, refuseInsideSession, withHost } from '../context.ts';
import { editDisabled } from '../state/edit-config.ts';
import { EXIT } from '../exit-codes.ts';
import { oneLine } from '../words/print.ts';
import { selectHooks } from '../state/select-hooks.ts';

export interface SwitchOptions {
  readonly id: string;
}

/** `hookline hooks disable ID`: in the person's own configuration; the hook's file is not touched. */
export const disableHook: Command<SwitchOptions> = (context, { id }) => {
  refuseInsideSession(context, 'hooks disable');
  return withHost(context, async (host) => {
    const status = findOwnHook(host, id);
    const file = await editDisabled(host, (disabled) => [
      ...withoutHook(disabled, status),
      disabledEntry(status.hook),
    ]);
    if (context.flags.json === true) context.print.json({ id, enabled: false, file });
    else context.print.out(`${oneLine(id)} is switched off (in ${oneLine(file)}).`);
    return EXIT.fine;
  });
};

/** `hookline hooks enable ID` */
export const enableHook: Command<SwitchOptions> = (context, { id }) => {
  refuseInsideSession(context, 'hooks enable');
  return withHost(context, async (host) => {
    const status = findHook(host, id);
    const file = await editDisabled(host, (disabled) => withoutHook(disabled, status));
    if (context.flags.json === true) context.print.json({ id, enabled: true, file });
    else context.print.out(`${oneLine(id)} is switched on.${stillWaiting(status)}`);
    return EXIT.fine;
  });
};

/** Also without what says that another hook of this name was off. */
function withoutHook(
  disabled: readonly DisabledHook[],
  { hook }: HookStatus,
): readonly DisabledHook[] {
  return disabled.filter((entry) => !namesHook(entry, hook) && !hasInheritedName(entry, hook));
}

export function findHook(host: Host, id: string): HookStatus {
  const [status] = selectHooks(host, [id]);
  invariant(status !== undefined, 'selectHooks refuses an id that no hook has');
  return status;
}

/** The same, of those that a person may switch off or take away. */
export function findOwnHook(host: Host, id: string): HookStatus {
  const status = findHook(host, id);
  if (status.hook.isFixed !== true) return status;
  throw new HooklineError('USAGE_INVALID', {
    message: `${id} comes from ${status.hook.path}, which this machine's administrator manages`,
    hint: 'Ask whoever manages the machine.',
  });
}

function stillWaiting({ hook, trustedBy }: HookStatus): string {
  if (hook.whyOff !== undefined) return ` It is still off, because it is ${hook.whyOff}.`;
  return trustedBy === null ? ' It runs once it is trusted: `hookline trust`.' : '';
}
