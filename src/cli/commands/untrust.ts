import type { HookStatus } from '../../host/hook-set.ts';
import { revokeTrust } from '../../trust/record.ts';
import { type Command, refuseInsideSession, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { plural } from '../words/print.ts';
import { selectHooks } from '../state/select-hooks.ts';
import { recordFile } from './trust.ts';

export interface UntrustOptions {
  readonly ids: readonly string[];
}

/** `hookline untrust`: forgets the decision about these hooks, or about all of the workspace. */
export const untrustHooks: Command<UntrustOptions> = (context, { ids }) => {
  refuseInsideSession(context, 'untrust');
  return withHost(context, async (host) => {
    const file = recordFile(host);
    const chosen = selectHooks(host, ids);
    const before = countEntries(host.trust.record);
    let after = before;
    for (const root of host.workspaceRoots) {
      // Without ids also what was trusted here once and is gone.
      const named = ids.length === 0 ? {} : { ids: ownIdsIn(root, chosen) };
      const { guardedRoots } = host.trust;
      const record = await revokeTrust(file, { root, guardedRoots, ...named });
      after = countEntries(record);
    }
    const forgotten = before - after;
    if (context.flags.json === true) context.print.json({ forgotten });
    else context.print.out(`Forgot the trust in ${plural(forgotten, 'hook')}.`);
    return EXIT.fine;
  });
};

/** Hooks of two roots may have the same id of their own. */
function ownIdsIn(root: string, chosen: readonly HookStatus[]): readonly string[] {
  return chosen.filter(({ hook }) => hook.root === root).map(({ hook }) => hook.ownId);
}

function countEntries(record: object): number {
  return 'entries' in record && Array.isArray(record.entries) ? record.entries.length : 0;
}
