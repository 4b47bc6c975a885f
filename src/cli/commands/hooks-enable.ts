import { HooklineError, invariant } from '../../base/errors.ts';
import type { Host } from '../../host/create-host.ts';
import {
  createDisabledEntry,
  hasInheritedName,
  isEntryForHook,
} from '../../host/disabled-hooks.ts';
import type { ListedUnit } from '../../host/hook-set.ts';
import type { DisabledHook } from '../../host/settings.ts';
import { type Command, rejectInsideSession, withHost } from '../context.ts';
import { editDisabledHooks } from '../config-files/disabled-hooks.ts';
import { EXIT } from '../exit-codes.ts';
import { toOneLine } from '../output/print.ts';
import { selectHooks } from '../select-hooks.ts';

/** `hookline hooks disable ID`: edits the user's configuration, not the hook. */
export const disableHook: Command<{ readonly id: string }> = (context, { id }) => {
  rejectInsideSession(context, 'hooks disable');
  return withHost(context, async (host) => {
    const status = findEditableHook(host, id);
    const file = await editDisabledHooks(host, (disabled) => [
      ...removeHookEntry(disabled, status),
      createDisabledEntry(status.hook),
    ]);
    if (context.flags.json === true) context.print.json({ id, enabled: false, file });
    else context.print.out(`Disabled ${toOneLine(id)} (in ${toOneLine(file)}).`);
    return EXIT.fine;
  });
};

/** `hookline hooks enable ID` */
export const enableHook: Command<{ readonly id: string }> = (context, { id }) => {
  rejectInsideSession(context, 'hooks enable');
  return withHost(context, async (host) => {
    const status = findHook(host, id);
    const file = await editDisabledHooks(host, (disabled) => removeHookEntry(disabled, status));
    if (context.flags.json === true) context.print.json({ id, enabled: true, file });
    else context.print.out(`Enabled ${toOneLine(id)}.${formatStillOff(status)}`);
    return EXIT.fine;
  });
};

/** Also removes entries of an earlier hook with this name. */
function removeHookEntry(
  disabled: readonly DisabledHook[],
  { hook }: ListedUnit,
): readonly DisabledHook[] {
  return disabled.filter((entry) => !isEntryForHook(entry, hook) && !hasInheritedName(entry, hook));
}

export function findHook(host: Host, id: string): ListedUnit {
  const [status] = selectHooks(host, [id]);
  invariant(status !== undefined, 'selectHooks refuses an id that no hook has');
  return status;
}

/** Like findHook, but rejects hooks that the user cannot change. */
export function findEditableHook(host: Host, id: string): ListedUnit {
  const status = findHook(host, id);
  if (status.hook.isFixed !== true) return status;
  throw new HooklineError('USAGE_INVALID', {
    message: `${id} is managed by the administrator (${status.hook.path})`,
    hint: 'Ask your administrator.',
  });
}

function formatStillOff({ hook, trustedBy }: ListedUnit): string {
  if (hook.whyOff !== undefined) return ` It is still off, because it is ${hook.whyOff}.`;
  return trustedBy === null ? ' It needs review: run `hookline trust`.' : '';
}
