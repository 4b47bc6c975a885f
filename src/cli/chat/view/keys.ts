import { matchesKey } from '@earendil-works/pi-tui/dist/keys.js';
import type { PromptEditor } from './prompt-editor.ts';
import type { Gestures } from './view.ts';

export interface KeyTargets {
  readonly gestures: Gestures;
  readonly editor: PromptEditor;
  readonly hasPanel: () => boolean;
  readonly toggleFolds: () => void;
}

/** Understands the keys that mean the same wherever one is; says whether it was one. */
export function createKeys(targets: KeyTargets): (data: string) => boolean {
  const { gestures, editor, hasPanel, toggleFolds } = targets;
  const isIdle = (): boolean => !hasPanel() && editor.getText() === '';
  const everywhere: Readonly<Record<string, () => void>> = {
    'ctrl+c': () => {
      const hadText = !hasPanel() && editor.getText() !== '';
      editor.setText('');
      if (!hadText) gestures.interrupt();
    },
    'ctrl+o': () => {
      gestures.unfold();
      toggleFolds();
    },
    'shift+tab': gestures.nextMode,
  };
  return (data) => {
    if (data.startsWith(PASTE_BEGINS)) return refusesPaste(data, gestures);
    const known = Object.keys(everywhere).find((key) => isKey(data, key));
    if (known !== undefined) everywhere[known]?.();
    else if (isKey(data, 'ctrl+d') && isIdle()) gestures.leave();
    else {
      const isEscape = !hasPanel() && isKey(data, 'escape');
      if (isEscape && !editor.isShowingAutocomplete()) gestures.escape();
      gestures.typed();
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

function refusesPaste(data: string, gestures: Gestures): boolean {
  gestures.typed();
  const length = data.length - PASTE_BEGINS.length - PASTE_ENDS.length;
  if (length <= gestures.pasteLimit()) return false;
  gestures.refusedPaste(length);
  return true;
}
