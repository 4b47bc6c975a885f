import { eventually } from '../../base/directory.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { Screen } from '../../../src/cli/chat/view/screen.ts';
import type { UserActions } from '../../../src/cli/chat/view/view.ts';

/** A terminal that only remembers: what is typed goes in, what is drawn comes out. */
class PlainTerminal {
  columns = 60;
  rows = 30;
  readonly kittyProtocolActive = false;
  written = '';
  #onInput: (data: string) => void = () => undefined;

  start(onInput: (data: string) => void): void {
    this.#onInput = onInput;
  }

  /** Each key by itself, as a terminal sends them. */
  press(...keys: readonly string[]): void {
    for (const key of keys) this.#onInput(key);
  }

  type(text: string): void {
    this.press(...text.split(''));
  }

  write(data: string): void {
    this.written += data;
  }

  stop(): void {}
  async drainInput(): Promise<void> {}
  moveBy(): void {}
  hideCursor(): void {}
  showCursor(): void {}
  clearLine(): void {}
  clearFromCursor(): void {}
  clearScreen(): void {}
  setTitle(): void {}
  setProgress(): void {}
}

export const KEYS = { enter: '\r', escape: '\u001B', down: '\u001B[B', up: '\u001B[A', space: ' ' };

const NO_ACTIONS: UserActions = {
  submit: () => undefined,
  interrupt: () => undefined,
  escape: () => undefined,
  leave: () => undefined,
  cycleMode: () => undefined,
  unfold: () => undefined,
  getPasteLimit: () => 1000,
  rejectPaste: () => undefined,
  noteKey: () => undefined,
};

/** A real screen on such a terminal. */
export function openScreen(actions: Partial<UserActions> = {}, clock: Clock = systemClock) {
  const terminal = new PlainTerminal();
  const screen = new Screen(terminal, { ...NO_ACTIONS, ...actions }, '/', clock);
  return {
    screen,
    terminal,
    /** Waits until something was drawn, and forgets what was drawn before. */
    async drew(text: string): Promise<void> {
      await eventually(() => {
        if (!plain(terminal.written).includes(text)) throw new NotDrawn(plain(terminal.written));
      });
      terminal.written = '';
    },
  };
}

class NotDrawn extends Error {
  override readonly name = 'NotDrawn';
}

const CODES = new RegExp(
  `${String.fromCodePoint(0x1b)}(?:\\[[\\d;?]*[A-Za-z]|_[^\\u0007]*\\u0007|\\]8;;\\u0007)`,
  'gu',
);

function plain(written: string): string {
  return written.replaceAll(CODES, '');
}
