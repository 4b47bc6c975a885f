import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type {
  AutocompleteItem,
  AutocompleteProvider,
  AutocompleteSuggestions,
} from '@earendil-works/pi-tui/dist/autocomplete.js';
import { printable } from '../../words/print.ts';
import type { CompletedCommand } from './view.ts';

const MOST_ITEMS = 50;

export interface CompletionSources {
  readonly directory: string;
  commands(): readonly CompletedCommand[];
}

type Completing = Parameters<AutocompleteProvider['applyCompletion']>;

/** Completes files after `@` and the names of commands after a slash at the beginning. */
export function createCompletion(sources: CompletionSources): AutocompleteProvider {
  return {
    async getSuggestions(lines, row, column) {
      const before = (lines[row] ?? '').slice(0, column);
      if (row === 0 && /^\/\S*$/u.test(before)) return completedCommand(before, sources.commands());
      const [mention] = /(?<=^|\s)@\S*$/u.exec(before) ?? [];
      return mention === undefined ? null : completedFile(mention, sources.directory);
    },
    applyCompletion(...[lines, row, column, item, prefix]: Completing) {
      const line = lines[row] ?? '';
      const start = column - prefix.length;
      const isDirectory = item.value.endsWith('/');
      const inserted = isDirectory ? item.value : `${item.value} `;
      const changed = line.slice(0, start) + inserted + line.slice(column);
      return {
        lines: lines.map((each, at) => (at === row ? changed : each)),
        cursorLine: row,
        cursorCol: start + inserted.length,
      };
    },
    shouldTriggerFileCompletion: (lines, row, column) =>
      /(?<=^|\s)@\S*$/u.test((lines[row] ?? '').slice(0, column)),
  };
}

function completedCommand(
  prefix: string,
  commands: readonly CompletedCommand[],
): AutocompleteSuggestions | null {
  const items = commands
    .filter(({ name }) => `/${name}`.startsWith(prefix))
    .map(({ name, about }) => ({
      value: `/${name}`,
      label: `/${printable(name)}`,
      description: printable(about),
    }));
  return items.length === 0 ? null : { items, prefix };
}

/** Looks only into the directory that is written so far: a workspace may be large. */
async function completedFile(
  mention: string,
  base: string,
): Promise<AutocompleteSuggestions | null> {
  const written = mention.slice(1);
  const [directory, begun] = [
    path.posix.dirname(`${written}x`),
    path.posix.basename(`${written}x`),
  ];
  const beginning = begun.slice(0, -1).toLowerCase();
  const parent = directory === '.' ? '' : `${directory}${directory.endsWith('/') ? '' : '/'}`;
  const found = await namesIn(path.resolve(base, directory));
  const items = found
    .filter((name) => name.toLowerCase().startsWith(beginning) && isShown(name, beginning))
    .slice(0, MOST_ITEMS)
    .map((name): AutocompleteItem => ({ value: `@${parent}${name}`, label: printable(name) }));
  return items.length === 0 ? null : { items, prefix: mention };
}

function isShown(name: string, beginning: string): boolean {
  // A name with a blank would end the mention, and one that cannot be printed cannot be typed.
  if (/[\s\p{C}]/u.test(name)) return false;
  return !name.startsWith('.') || beginning.startsWith('.');
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    return names.toSorted();
  } catch {
    // Not there, or not to be read: nothing can be completed.
    return [];
  }
}
