import { unlinkSync } from 'node:fs';
import { HooklineError, isHooklineError, getErrorMessage } from '../../base/errors.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import type { Host } from '../../host/create-host.ts';
import { revokeTrust } from '../../trust/record.ts';
import { confirm } from '../ask.ts';
import { type Command, type CommandContext, refuseInsideSession, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { trustNotes, withKeptTrust } from '../state/keep-trust.ts';
import type { Removal } from '../state/remove-entry.ts';
import { oneLine } from '../words/print.ts';
import { findOwnHook } from './hooks-switch.ts';

export interface RemoveOptions {
  readonly id: string;
  readonly yes?: boolean;
}

/** `hookline hooks rm ID`: deletes the hook's file, or its entry in a settings file, after asking. */
export const removeHook: Command<RemoveOptions> = (context, { id, yes }) => {
  refuseInsideSession(context, 'hooks rm');
  return withHost(context, async (host) => {
    const { hook } = findOwnHook(host, id);
    const removal = await planRemoval(hook);
    if (yes !== true && !(await isAgreed(context, removal))) {
      context.print.note('Nothing was deleted.');
      return EXIT.refused;
    }
    const kept = await withKeptTrust(host, removal.remove);
    await forgetTrust(host, hook);
    for (const note of trustNotes(kept)) context.print.note(note);
    if (context.flags.json === true) context.print.json({ id, ...removal.result });
    else context.print.out(removal.done);
    return EXIT.fine;
  });
};

async function planRemoval(hook: FoundHook): Promise<Removal> {
  refusePackage(hook);
  if (hook.line === null) return fileRemoval(hook.path);
  const { entryRemoval } = await import('../state/remove-entry.ts');
  return entryRemoval(hook);
}

/** One file of a package is not all of it. */
function refusePackage({ id, plugin, problem }: FoundHook): void {
  if (plugin === undefined || (plugin.package === null && problem === null)) return;
  const place = plugin.package?.directory ?? plugin.file;
  throw new HooklineError('USAGE_INVALID', {
    message: `${id} is more than one file, so that \`hooks rm\` does not delete it: ${place}`,
    hint: 'Uninstall it with `hookline plugin uninstall`, switch it off with `hookline hooks disable`, or delete it yourself.',
  });
}

function fileRemoval(file: string): Removal {
  return {
    shown: [],
    question: `Delete ${oneLine(file)}?`,
    remove: () => deleteFile(file),
    done: `Deleted ${oneLine(file)}.`,
    result: { deleted: file },
  };
}

function isAgreed(context: CommandContext, { shown, question }: Removal): Promise<boolean> {
  for (const text of shown) context.print.note(text);
  return confirm(context, { text: question, flag: '--yes' });
}

/** What no longer exists needs no decision; a hook put there later is looked at anew. */
async function forgetTrust(host: Host, { root, ownId }: FoundHook): Promise<void> {
  const { trust } = host;
  if (root === null || trust.recordFile === null || isHooklineError(trust.record)) return;
  // An entry below it may have moved up to its name, and is trusted by that name now.
  if (host.hooks().some(({ hook }) => hook.ownId === ownId && hook.root === root)) return;
  await revokeTrust(trust.recordFile, { root, ids: [ownId], guardedRoots: trust.guardedRoots });
}

function deleteFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: `${file} cannot be deleted: ${getErrorMessage(error)}`,
      hint: 'Check the rights of its directory.',
      cause: error,
    });
  }
}
