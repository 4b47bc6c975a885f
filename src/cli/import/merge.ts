import { addEntry } from '../../dialects/claude-config/config/edit.ts';
import { readHooksText } from '../../dialects/claude-config/config/read-hooks-text.ts';
import type { Entry } from '../../dialects/claude-config/entry.ts';
import { isSameEntry, parseEntryText, type HookEntry } from '../config-files/hook-entry.ts';
import { runFileEdit } from '../config-files/hooks-file.ts';
import { type ImportedEntry, sourceAt } from './read-claude.ts';

export interface Merged {
  /** The target's new text. */
  readonly text: string;
  readonly added: readonly ImportedEntry[];
  /** Those that the target has already. */
  readonly present: readonly ImportedEntry[];
}

/** Adds to the target what it does not have; all else in it stays as it is. */
export function mergeHooks(
  target: { readonly file: string; readonly text: string },
  imported: readonly ImportedEntry[],
): Merged {
  const known = entriesIn(target);
  const added: ImportedEntry[] = [];
  const present: ImportedEntry[] = [];
  let { text } = target;
  for (const each of imported) {
    const written = writtenOf(each.entry);
    if (written === null || known.some((other) => isSameEntry(other, written))) {
      present.push(each);
      continue;
    }
    known.push(written);
    added.push(each);
    const { event, matcher } = each.entry;
    text = runFileEdit(target.file, () =>
      addEntry(text, event, { matcher, handler: each.handler }),
    );
  }
  return { text, added, present };
}

function writtenOf({ text }: Entry): HookEntry | null {
  return parseEntryText(text);
}

function entriesIn({ file, text }: { file: string; text: string }): HookEntry[] {
  if (text.trim() === '') return [];
  const { entries } = readHooksText(text, sourceAt(file, 'project', null), 'settings');
  return entries.flatMap((entry) => writtenOf(entry) ?? []);
}
