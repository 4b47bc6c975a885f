import { unlinkSync } from 'node:fs';
import { HooklineError, isHooklineError, messageOf } from '../../base/errors.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import type { Host } from '../../host/create-host.ts';
import { untrust } from '../../trust/record.ts';
import { confirm } from '../ask.ts';
import { type Command, refuseInsideSession, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { trustNotes, withKeptTrust } from '../state/keep-trust.ts';
import { oneLine } from '../print.ts';
import { findHook } from './hooks-switch.ts';

export interface RemoveOptions {
  readonly id: string;
  readonly yes?: boolean;
}

/** `hookline hooks rm ID`: deletes the hook's file, after asking. */
export const removeHook: Command<RemoveOptions> = (context, { id, yes }) => {
  refuseInsideSession(context, 'hooks rm');
  return withHost(context, async (host) => {
    const { hook } = findHook(host, id);
    const text = `Delete ${oneLine(hook.path)}?`;
    if (yes !== true && !(await confirm(context, { text, flag: '--yes' }))) {
      context.print.note('Nothing was deleted.');
      return EXIT.refused;
    }
    const kept = await withKeptTrust(
      host,
      () => deleteFile(hook.path),
      () => false,
    );
    await forgetTrust(host, hook);
    for (const note of trustNotes(kept)) context.print.note(note);
    if (context.flags.json === true) context.print.json({ id, deleted: hook.path });
    else context.print.out(`Deleted ${oneLine(hook.path)}.`);
    return EXIT.fine;
  });
};

/** What no longer exists needs no decision; a hook put there later is looked at anew. */
async function forgetTrust({ trust }: Host, { root, ownId }: FoundHook): Promise<void> {
  if (root === null || trust.recordFile === null || isHooklineError(trust.record)) return;
  await untrust(trust.recordFile, { root, ids: [ownId], guardedRoots: trust.guardedRoots });
}

function deleteFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: `${file} cannot be deleted: ${messageOf(error)}`,
      hint: 'Check the rights of its directory.',
      cause: error,
    });
  }
}
