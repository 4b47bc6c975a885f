import { addEntry } from '../config/edit.ts';
import { readHooksText } from '../config/read-hooks-text.ts';
import type { Entry } from '../entry.ts';
import { isSameEntry, parseEntryText, type WrittenEntry } from '../written-entry.ts';
import { runEdit } from '../../hooks-file.ts';
import { type ImportedEntry, createSource } from './read-settings.ts';

export interface Merged {
  /** The target's new text. */
  readonly text: string;
  readonly added: readonly ImportedEntry[];
  /** Entries that the target already has. */
  readonly present: readonly ImportedEntry[];
}

/** Adds the missing entries to the target's text and changes nothing else. */
export function mergeHooks(
  target: { readonly file: string; readonly text: string },
  imported: readonly ImportedEntry[],
): Merged {
  const existing = readEntries(target);
  const added: ImportedEntry[] = [];
  const present: ImportedEntry[] = [];
  let { text } = target;
  for (const each of imported) {
    const written = parseWritten(each.entry);
    if (written === null || existing.some((other) => isSameEntry(other, written))) {
      present.push(each);
      continue;
    }
    existing.push(written);
    added.push(each);
    const { event, matcher } = each.entry;
    text = runEdit(target.file, () => addEntry(text, event, { matcher, handler: each.handler }));
  }
  return { text, added, present };
}

function parseWritten({ text }: Entry): WrittenEntry | null {
  return parseEntryText(text);
}

function readEntries({ file, text }: { file: string; text: string }): WrittenEntry[] {
  if (text.trim() === '') return [];
  const { entries } = readHooksText(text, createSource(file, 'project', null), 'settings');
  return entries.flatMap((entry) => parseWritten(entry) ?? []);
}
