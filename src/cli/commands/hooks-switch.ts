import { invariant } from '../../base/errors.ts';
import type { Host } from '../../host/create-host.ts';
import { type HookStatus, namesHook } from '../../host/hook-set.ts';
import { type Command, refuseInsideSession, withHost } from '../context.ts';
import { editDisabled } from '../state/edit-config.ts';
import { EXIT } from '../exit-codes.ts';
import { oneLine } from '../words/print.ts';
import { selectHooks } from './trust.ts';

export interface SwitchOptions {
  readonly id: string;
}

/** `hookline hooks disable ID`: in the person's own configuration; the hook's file is not touched. */
export const disableHook: Command<SwitchOptions> = (context, { id }) => {
  refuseInsideSession(context, 'hooks disable');
  return withHost(context, async (host) => {
    const status = findHook(host, id);
    const file = await editDisabled(host, (disabled) => [
      ...disabled.filter((entry) => !namesHook(entry, status.hook)),
      { id: status.hook.ownId, root: status.hook.root },
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
    const file = await editDisabled(host, (disabled) =>
      disabled.filter((entry) => !namesHook(entry, status.hook)),
    );
    if (context.flags.json === true) context.print.json({ id, enabled: true, file });
    else context.print.out(`${oneLine(id)} is switched on.${stillWaiting(status)}`);
    return EXIT.fine;
  });
};

export function findHook(host: Host, id: string): HookStatus {
  const [status] = selectHooks(host, [id]);
  invariant(status !== undefined, 'selectHooks refuses an id that no hook has');
  return status;
}

function stillWaiting({ trustedBy }: HookStatus): string {
  return trustedBy === null ? ' It runs once it is trusted: `hookline trust`.' : '';
}
