import { Editor } from '@earendil-works/pi-tui/dist/components/editor.js';
import type { TUI } from '@earendil-works/pi-tui/dist/tui.js';
import { fitWidth, editorTheme } from './part.ts';

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
