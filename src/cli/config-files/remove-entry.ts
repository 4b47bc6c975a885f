import { HooklineError } from '../../base/errors.ts';
import { type EntryAddress, removeEntry } from '../../dialects/claude-config/config/edit.ts';
import { entryText } from '../../dialects/claude-config/config/entry-text.ts';
import { isClaudeEvent } from '../../dialects/claude-config/names.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import { indent, toOneLine, toPrintable } from '../output/print.ts';
import { formatEntry, parseHookEntry } from './hook-entry.ts';
import { runFileEdit, openHooksFile } from './hooks-file.ts';

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
