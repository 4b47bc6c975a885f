import { isKeyRelease, matchesKey } from '@earendil-works/pi-tui/dist/keys.js';
import type { PromptEditor } from './prompt-editor.ts';
import type { UserActions } from './view.ts';

export interface KeyTargets {
  readonly actions: UserActions;
  readonly editor: PromptEditor;
  readonly hasPanel: () => boolean;
  /** Dismisses the open panel. */
  readonly dismissPanel: () => void;
  /** Whether a key was typed for the editor before a panel replaced it. */
  readonly isTypeahead: () => boolean;
  readonly toggleFolds: () => void;
}

/** Handles keys that work everywhere; returns whether the key was handled. */
export function createKeyHandler(targets: KeyTargets): (data: string) => boolean {
  const {
    actions: gestures,
    editor,
    hasPanel,
    dismissPanel,
    isTypeahead: isStray,
    toggleFolds,
  } = targets;
  const isIdle = (): boolean => !hasPanel() && editor.getText() === '';
  const leave = (): void => (hasPanel() ? dismissPanel() : gestures.leave());
  const everywhere: Readonly<Record<string, () => void>> = {
    'ctrl+c': () => {
      if (!hasPanel() && editor.getText() !== '') return editor.setText('');
      gestures.interrupt();
      return dismissPanel();
    },
    'ctrl+o': () => {
      gestures.unfold();
      toggleFolds();
    },
    'shift+tab': gestures.cycleMode,
  };
  return (data) => {
    if (isKeyRelease(data)) return true;
    const isLost = isStray();
    if (data.startsWith(PASTE_BEGINS)) return isLost || rejectsLongPaste(data, gestures);
    const known = Object.keys(everywhere).find((key) => isKey(data, key));
    if (known !== undefined) everywhere[known]?.();
    else if (isKey(data, 'ctrl+d') && (hasPanel() || isIdle())) leave();
    else if (!isLost || isKey(data, 'escape')) {
      const isEscape = !hasPanel() && isKey(data, 'escape');
      if (isEscape && !editor.isShowingAutocomplete()) gestures.escape();
      gestures.resetExit();
      return false;
    }
    return true;
  };
}

function isKey(data: string, key: string): boolean {
  return KEYS.some((known) => known === key && matchesKey(data, known));
}

const KEYS = ['ctrl+c', 'ctrl+o', 'ctrl+d', 'shift+tab', 'escape'] as const;

const PASTE_BEGINS = '\u001B[200~';
const PASTE_ENDS = '\u001B[201~';

function rejectsLongPaste(data: string, gestures: UserActions): boolean {
  gestures.resetExit();
  const length = data.length - PASTE_BEGINS.length - PASTE_ENDS.length;
  if (length <= gestures.getPasteLimit()) return false;
  gestures.rejectPaste(length);
  return true;
}
