import { unlinkSync } from 'node:fs';
import { HooklineError, isHooklineError, getErrorMessage } from '../../base/errors.ts';
import { findDialect } from '../../dialects/index.ts';
import type { DiscoveredUnit, FoundPlugin } from '../../dialects/discovery.ts';
import type { Host } from '../../host/create-host.ts';
import type { ListedUnit } from '../../host/hook-set.ts';
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
import { toOneLine, indent, toPrintable } from '../output/print.ts';
import { findEditableHook } from './hooks-enable.ts';
import type { RemoveEntry } from '../../dialects/dialect.ts';
import { runEdit, openConfigFile } from '../../dialects/hooks-file.ts';

/** `hookline hooks rm ID`: deletes the hook's file or its entry in a settings file, after confirmation. */
export const removeHook: Command<{
  readonly id: string;
  readonly yes?: boolean;
}> = (context, { id, yes }) => {
  rejectInsideSession(context, 'hooks rm');
  return withHost(context, async (host) => {
    const status = findEditableHook(host, id);
    const { hook } = status;
    const removal = await planRemoval(status);
    if (yes !== true && !(await confirmRemoval(context, removal))) {
      context.print.note('Nothing was deleted.');
      return EXIT.refused;
    }
    const preserved = await preserveTrust(context, host, removal.remove);
    await revokeHookTrust(host, hook);
    for (const note of formatTrustNotes(preserved)) context.print.note(note);
    if (context.flags.json === true) context.print.json({ id, ...removal.result });
    else context.print.out(removal.done);
    return EXIT.fine;
  });
};

async function planRemoval({ hook, found }: ListedUnit): Promise<Removal> {
  if (found.kind === 'plugin') rejectPackage(found);
  if (hook.line === null) return planFileRemoval(hook.path);
  const removeEntry = await findDialect(hook.dialect)?.removeEntry?.();
  return planEntryRemoval(hook, found.kind === 'hook' ? found.matcher : null, removeEntry);
}

/** A package consists of several files. */
function rejectPackage({ unit: { id, problem }, entry }: FoundPlugin): void {
  if (entry.package === null && problem === null) return;
  const location = entry.package?.directory ?? entry.file;
  throw new HooklineError('USAGE_INVALID', {
    message: `${id} consists of several files, which \`hooks rm\` does not delete: ${location}`,
    hint: 'Uninstall it with `hookline plugin uninstall`, disable it with `hookline hooks disable`, or delete it yourself.',
  });
}

function planFileRemoval(file: string): Removal {
  return {
    details: [],
    question: `Delete ${toOneLine(file)}?`,
    remove: () => deleteFile(file),
    done: `Deleted ${toOneLine(file)}.`,
    result: { deleted: file },
  };
}

function confirmRemoval(context: CommandContext, { details, question }: Removal): Promise<boolean> {
  for (const text of details) context.print.note(text);
  return confirm(context, { text: question, flag: '--yes' });
}

/** Revokes trust in a deleted hook, so that a new one in its place needs a review. */
async function revokeHookTrust(host: Host, { root, ownId }: DiscoveredUnit): Promise<void> {
  const { trust } = host;
  if (root === null || trust.files === null || isHooklineError(trust.record)) return;
  // An entry below may have taken over the id, and is trusted under it.
  if (host.hooks().some(({ hook }) => hook.ownId === ownId && hook.root === root)) return;
  await revokeTrust(trust.files, { root, ids: [ownId], guardedRoots: trust.guardedRoots });
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

/** How a hook is removed. */
interface Removal {
  /** Printed before the question. */
  readonly details: readonly string[];
  readonly question: string;
  readonly remove: () => void;
  /** What was done, as a sentence and as JSON. */
  readonly done: string;
  readonly result: Readonly<Record<string, unknown>>;
}

/** Takes an entry out of its settings file, in the way that its dialect knows. */
function planEntryRemoval(
  hook: DiscoveredUnit,
  matcher: string | null,
  removeEntry: RemoveEntry | undefined,
): Removal {
  const { path: file, line, root, eventName } = hook;
  if (line === null || !file.endsWith('.json')) throw createManualEditError(hook);
  const opened = openConfigFile(file, root);
  if (opened.text === '') throw createNoFileError(hook);
  const removed = runEdit(file, () => removeEntry?.(hook, opened.text) ?? null);
  if (removed === null) throw createManualEditError(hook);
  const where = `${toOneLine(file)}:${line}`;
  const entry = removed.entry.split('\n').map(toPrintable).join('\n');
  const scripts = listScripts(hook);
  return {
    details: [`${where}\n${indent(entry, '  ')}`],
    question: `Remove this ${eventName} entry from ${toOneLine(file)}?`,
    remove: () => opened.write(removed.text),
    done: [`Removed the entry at ${where}.`, ...formatKeptScripts(scripts)].join('\n'),
    result: { removed: { file, line, event: eventName, matcher }, kept: scripts },
  };
}

/** What it ran may serve others, so it is not deleted. */
function listScripts({ binds }: DiscoveredUnit): readonly string[] {
  return binds.files.filter((file) => /\.\w+$/.test(file));
}

function formatKeptScripts(scripts: readonly string[]): readonly string[] {
  if (scripts.length === 0) return [];
  const noun = scripts.length === 1 ? 'script' : 'scripts';
  return [`Kept ${noun}: ${scripts.map(toOneLine).join(', ')}`];
}

function createManualEditError({ id, path: file, line }: DiscoveredUnit): HooklineError {
  return new HooklineError('CONFIG_INVALID', {
    message: `${id} at ${file}:${line} cannot be removed automatically`,
    hint: `Edit the file yourself, or run \`hookline hooks disable ${id}\`.`,
  });
}

function createNoFileError({ id }: DiscoveredUnit): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: `${id} comes from the command line, not from a file`,
    hint: 'Remove it from --settings.',
  });
}
