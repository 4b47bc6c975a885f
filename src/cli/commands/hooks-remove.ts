import { unlinkSync } from 'node:fs';
import { HooklineError, isHooklineError, getErrorMessage } from '../../base/errors.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import type { Host } from '../../host/create-host.ts';
import { revokeTrust } from '../../trust/trust-record.ts';
import {
  confirm,
  type Command,
  type CommandContext,
  rejectInsideSession,
  withHost,
} from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { formatTrustNotes, preserveTrust } from '../config-files/preserve-trust.ts';
import type { Removal } from '../config-files/remove-entry.ts';
import { toOneLine } from '../output/print.ts';
import { findEditableHook } from './hooks-switch.ts';

export interface RemoveOptions {
  readonly id: string;
  readonly yes?: boolean;
}

/** `hookline hooks rm ID`: deletes the hook's file or its entry in a settings file, after confirmation. */
export const removeHook: Command<RemoveOptions> = (context, { id, yes }) => {
  rejectInsideSession(context, 'hooks rm');
  return withHost(context, async (host) => {
    const { hook } = findEditableHook(host, id);
    const removal = await planRemoval(hook);
    if (yes !== true && !(await confirmRemoval(context, removal))) {
      context.print.note('Nothing was deleted.');
      return EXIT.refused;
    }
    const preserved = await preserveTrust(host, removal.remove);
    await revokeHookTrust(host, hook);
    for (const note of formatTrustNotes(preserved)) context.print.note(note);
    if (context.flags.json === true) context.print.json({ id, ...removal.result });
    else context.print.out(removal.done);
    return EXIT.fine;
  });
};

async function planRemoval(hook: FoundHook): Promise<Removal> {
  rejectPackage(hook);
  if (hook.line === null) return planFileRemoval(hook.path);
  const { planEntryRemoval } = await import('../config-files/remove-entry.ts');
  return planEntryRemoval(hook);
}

/** A package consists of several files. */
function rejectPackage({ id, plugin, problem }: FoundHook): void {
  if (plugin === undefined || (plugin.package === null && problem === null)) return;
  const place = plugin.package?.directory ?? plugin.file;
  throw new HooklineError('USAGE_INVALID', {
    message: `${id} consists of several files, which \`hooks rm\` does not delete: ${place}`,
    hint: 'Uninstall it with `hookline plugin uninstall`, disable it with `hookline hooks disable`, or delete it yourself.',
  });
}

function planFileRemoval(file: string): Removal {
  return {
    shown: [],
    question: `Delete ${toOneLine(file)}?`,
    remove: () => deleteFile(file),
    done: `Deleted ${toOneLine(file)}.`,
    result: { deleted: file },
  };
}

function confirmRemoval(context: CommandContext, { shown, question }: Removal): Promise<boolean> {
  for (const text of shown) context.print.note(text);
  return confirm(context, { text: question, flag: '--yes' });
}

/** Revokes trust in a deleted hook, so that a new one in its place needs a review. */
async function revokeHookTrust(host: Host, { root, ownId }: FoundHook): Promise<void> {
  const { trust } = host;
  if (root === null || trust.recordFile === null || isHooklineError(trust.record)) return;
  // An entry below may have taken over the id, and is trusted under it.
  if (host.hooks().some(({ hook }) => hook.ownId === ownId && hook.root === root)) return;
  await revokeTrust(trust.recordFile, { root, ids: [ownId], guardedRoots: trust.guardedRoots });
}

function deleteFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: `${file} cannot be deleted: ${getErrorMessage(error)}`,
      hint: 'Check the permissions of its directory.',
      cause: error,
    });
  }
}
