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
import { toOneLine, indent, toPrintable } from '../output/print.ts';
import { findEditableHook } from './hooks-switch.ts';
import { type EntryAddress, removeEntry } from '../../dialects/claude-config/config/edit.ts';
import { entryText } from '../../dialects/claude-config/config/entry-text.ts';
import { isClaudeEvent } from '../../dialects/claude-config/names.ts';
import { formatEntry, parseHookEntry } from '../config-files/hook-entry.ts';
import { runFileEdit, openHooksFile } from '../config-files/hooks-file.ts';

export interface RemoveOptions {
  readonly id: string;
  readonly yes?: boolean;
}

/** `hookline hooks rm ID`: deletes the hook's file or its entry in a settings file, after confirmation. */
export const removeHook: Command<RemoveOptions> = (context, { id, yes }) => {
  rejectInsideSession(context, 'hooks rm');
  return withHost(context, async (host) => {
    const { hook } = findEditableHook(host, id);
    const removal = planRemoval(hook);
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

function planRemoval(hook: FoundHook): Removal {
  rejectPackage(hook);
  if (hook.line === null) return planFileRemoval(hook.path);
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

/** How a hook is removed. */
export interface Removal {
  /** Shown before the question. */
  readonly shown: readonly string[];
  readonly question: string;
  readonly remove: () => void;
  /** What was done, as a sentence and as JSON. */
  readonly done: string;
  readonly result: Readonly<Record<string, unknown>>;
}

/** Plans the removal of an entry from its settings file; comments and other entries stay. */
export function planEntryRemoval(hook: FoundHook): Removal {
  const { path: file, line, root, eventName } = hook;
  if (line === null || !file.endsWith('.json')) throw createManualEditError(hook);
  const opened = openHooksFile(file, root);
  if (opened.text === '') throw createNoFileError(hook);
  const address = toEntryAddress(hook, line);
  const changed = runFileEdit(file, () => removeEntry(opened.text, address));
  const where = `${toOneLine(file)}:${line}`;
  const scripts = listScripts(hook);
  return {
    shown: [`${where}\n${indent(formatRemovedEntry(hook, opened.text), '  ')}`],
    question: `Remove this ${eventName} entry from ${toOneLine(file)}?`,
    remove: () => opened.write(changed),
    done: [`Removed the entry at ${where}.`, ...formatKeptScripts(scripts)].join('\n'),
    result: { removed: { file, line, event: eventName, matcher: hook.matcher }, kept: scripts },
  };
}

/** A broken entry is identified by its line only. */
function toEntryAddress(hook: FoundHook, line: number): EntryAddress {
  const entry = parseHookEntry(hook);
  if (entry === null) {
    if (!isClaudeEvent(hook.eventName)) throw createManualEditError(hook);
    return { event: hook.eventName, line };
  }
  const { event, matcher, handler, source } = entry;
  const text = entryText({ event, matcher, agentType: undefined, handler }, source);
  return { event, line, source, text };
}

function formatRemovedEntry(hook: FoundHook, text: string): string {
  const entry = parseHookEntry(hook);
  const lines =
    entry === null ? [text.split('\n')[(hook.line ?? 1) - 1] ?? ''] : [formatEntry(entry)];
  return lines.flatMap((each) => each.split('\n').map(toPrintable)).join('\n');
}

/** Scripts are kept, because other hooks may use them. */
function listScripts({ binds }: FoundHook): readonly string[] {
  return binds.files.filter((file) => /\.\w+$/.test(file));
}

function formatKeptScripts(scripts: readonly string[]): readonly string[] {
  if (scripts.length === 0) return [];
  const noun = scripts.length === 1 ? 'script' : 'scripts';
  return [`Kept ${noun}: ${scripts.map(toOneLine).join(', ')}`];
}

function createManualEditError({ id, path: file, line }: FoundHook): HooklineError {
  return new HooklineError('CONFIG_INVALID', {
    message: `${id} at ${file}:${line} cannot be removed automatically`,
    hint: `Edit the file yourself, or run \`hookline hooks disable ${id}\`.`,
  });
}

function createNoFileError({ id }: FoundHook): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: `${id} comes from the command line, not from a file`,
    hint: 'Remove it from --settings.',
  });
}
