import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type {
  AutocompleteItem,
  AutocompleteProvider,
  AutocompleteSuggestions,
} from '@earendil-works/pi-tui/dist/autocomplete.js';
import { toPrintable } from '../../output/print.ts';
import type { CommandCompletion } from './view.ts';

const MAX_ITEMS = 50;

type Completing = Parameters<AutocompleteProvider['applyCompletion']>;

/** Completes files after `@` and command names after a leading slash. */
export function createCompletion(
  directory: string,
  listCommands: () => readonly CommandCompletion[],
): AutocompleteProvider {
  return {
    async getSuggestions(lines, row, column) {
      const before = (lines[row] ?? '').slice(0, column);
      if (row === 0 && /^\/\S*$/u.test(before)) return completeCommand(before, listCommands());
      const [mention] = /(?<=^|\s)@\S*$/u.exec(before) ?? [];
      return mention === undefined ? null : completeFile(mention, directory);
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

function completeCommand(
  prefix: string,
  commands: readonly CommandCompletion[],
): AutocompleteSuggestions | null {
  const items = commands
    .filter(({ name }) => `/${name}`.startsWith(prefix))
    .map(({ name, about }) => ({
      value: `/${name}`,
      label: `/${toPrintable(name)}`,
      description: toPrintable(about),
    }));
  return items.length === 0 ? null : { items, prefix };
}

/** Reads only the directory typed so far, because a workspace may be large. */
async function completeFile(
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
  const found = await listNames(path.resolve(base, directory));
  const items = found
    .filter((name) => name.toLowerCase().startsWith(beginning) && isCompletable(name, beginning))
    .slice(0, MAX_ITEMS)
    .map((name): AutocompleteItem => ({ value: `@${parent}${name}`, label: toPrintable(name) }));
  return items.length === 0 ? null : { items, prefix: mention };
}

function isCompletable(name: string, beginning: string): boolean {
  // White space would end the mention, and unprintable characters cannot be typed.
  if (/[\s\p{C}]/u.test(name)) return false;
  return !name.startsWith('.') || beginning.startsWith('.');
}

async function listNames(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    return names.toSorted();
  } catch {
    // An unreadable directory has no completions.
    return [];
  }
}
