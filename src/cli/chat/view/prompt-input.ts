import { isKeyRelease, matchesKey } from '@earendil-works/pi-tui/dist/keys.js';
import type { UserActions, CommandCompletion } from './view.ts';
import { Editor } from '@earendil-works/pi-tui/dist/components/editor.js';
import type { TUI } from '@earendil-works/pi-tui/dist/tui.js';
import { fitWidth, editorTheme } from './part.ts';
import type { Clock } from '../../../base/clock.ts';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type {
  AutocompleteItem,
  AutocompleteProvider,
  AutocompleteSuggestions,
} from '@earendil-works/pi-tui/dist/autocomplete.js';
import { toPrintable } from '../../output/print.ts';

/** What keys act on besides the editor and the user's actions. */
interface KeyTargets {
  readonly hasPanel: () => boolean;
  /** Dismisses the open panel. */
  readonly dismissPanel: () => void;
  /** Whether a key was typed for the editor before a panel replaced it. */
  readonly isTypeahead: () => boolean;
  readonly toggleFolds: () => void;
}

/** Handles keys that work everywhere; returns whether the key was handled. */
export function createKeyHandler(
  actions: UserActions,
  editor: PromptEditor,
  { hasPanel, dismissPanel, isTypeahead, toggleFolds }: KeyTargets,
): (data: string) => boolean {
  const isIdle = (): boolean => !hasPanel() && editor.getText() === '';
  const leave = (): void => (hasPanel() ? dismissPanel() : actions.leave());
  const everywhere: Readonly<Record<string, () => void>> = {
    'ctrl+c': () => {
      if (!hasPanel() && editor.getText() !== '') return editor.setText('');
      actions.interrupt();
      return dismissPanel();
    },
    'ctrl+o': () => {
      actions.unfold();
      toggleFolds();
    },
    'shift+tab': actions.cycleMode,
  };
  return (data) => {
    if (isKeyRelease(data)) return true;
    const isLost = isTypeahead();
    if (data.startsWith(PASTE_BEGINS)) return isLost || rejectLongPaste(data, actions);
    const pressedKey = Object.keys(everywhere).find((key) => isKey(data, key));
    if (pressedKey !== undefined) everywhere[pressedKey]?.();
    else if (isKey(data, 'ctrl+d') && (hasPanel() || isIdle())) leave();
    else if (!isLost || isKey(data, 'escape')) {
      const isEscape = !hasPanel() && isKey(data, 'escape');
      if (isEscape && !editor.isShowingAutocomplete()) actions.escape();
      actions.noteKey();
      return false;
    }
    return true;
  };
}

function isKey(data: string, key: string): boolean {
  return KEYS.some((each) => each === key && matchesKey(data, each));
}

const KEYS = ['ctrl+c', 'ctrl+o', 'ctrl+d', 'shift+tab', 'escape'] as const;

const PASTE_BEGINS = '\u001B[200~';
const PASTE_ENDS = '\u001B[201~';

/** Returns whether it was rejected. */
function rejectLongPaste(data: string, actions: UserActions): boolean {
  actions.noteKey();
  const length = data.length - PASTE_BEGINS.length - PASTE_ENDS.length;
  if (length <= actions.getPasteLimit()) return false;
  actions.rejectPaste(length);
  return true;
}

/** The editor with a prompt mark. */
export class PromptEditor extends Editor {
  constructor(tui: TUI, submit: (text: string) => void) {
    super(tui, editorTheme, { paddingX: 2 });
    this.onSubmit = submit;
  }

  override render(width: number): string[] {
    const [top = '', first = '', ...rest] = super.render(width);
    return [top, first.replace(/^ {2}/u, '> '), ...rest].map((line) => fitWidth(line, width));
  }
}

const PAUSE_MS = 500;

/** Drops keys that were typed for the editor before a panel opened: until typing has paused. */
export class TypeaheadGuard {
  readonly #clock: Clock;
  /** When the last such key arrived; null when none is expected. */
  #lastAt: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A panel replaced an editor with this text. */
  start(draft: string): void {
    this.#lastAt = draft === '' ? null : this.#clock.elapsed();
  }

  /** Must be called once per key. */
  isTypeahead(): boolean {
    if (this.#lastAt === null) return false;
    const now = this.#clock.elapsed();
    const hasPaused = now - this.#lastAt >= PAUSE_MS;
    this.#lastAt = hasPaused ? null : now;
    return !hasPaused;
  }
}

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
