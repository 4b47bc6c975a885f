import { setKittyProtocolActive } from '@earendil-works/pi-tui/dist/keys.js';
import { StdinBuffer } from '@earendil-works/pi-tui/dist/stdin-buffer.js';
import type { Terminal } from '@earendil-works/pi-tui/dist/terminal.js';

const PASTE_START = '\u001B[200~';
const PASTE_END = '\u001B[201~';

/**
 * Separates pasted from typed input. A paste arrives in thousands of chunks, so each chunk is scanned once.
 */
export class PasteDetector {
  readonly #onKeys: (data: string) => void;
  readonly #onPaste: (data: string) => void;
  #pieces: string[] | null = null;
  /** A possible start of the end marker. */
  #rest = '';

  /** `onPaste` receives the pasted text with its markers. */
  constructor(onKeys: (data: string) => void, onPaste: (data: string) => void) {
    this.#onKeys = onKeys;
    this.#onPaste = onPaste;
  }

  take(data: string): void {
    if (this.#pieces !== null) return this.#gather(this.#pieces, data);
    const begin = data.indexOf(PASTE_START);
    if (begin === -1) return this.#onKeys(data);
    if (begin > 0) this.#onKeys(data.slice(0, begin));
    this.#pieces = [];
    return this.#gather(this.#pieces, data.slice(begin + PASTE_START.length));
  }

  #gather(pieces: string[], data: string): void {
    const text = this.#rest + data;
    const end = text.indexOf(PASTE_END);
    if (end === -1) {
      const overlap = PASTE_END.length - 1;
      pieces.push(text.slice(0, -overlap));
      this.#rest = text.slice(-overlap);
      return;
    }
    this.#pieces = null;
    this.#rest = '';
    this.#onPaste(`${PASTE_START}${[...pieces, text.slice(0, end)].join('')}${PASTE_END}`);
    const after = text.slice(end + PASTE_END.length);
    if (after !== '') this.take(after);
  }
}

/** The terminal's streams; tests pass their own. */
interface TerminalStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

const BRACKETED_PASTE = { on: '\u001B[?2004h', off: '\u001B[?2004l' };
const KITTY = { ask: '\u001B[?u', on: '\u001B[>7u', off: '\u001B[<u' };
const OTHER_KEYS = { on: '\u001B[>4;2m', off: '\u001B[>4;0m' };
const KITTY_WAIT_MS = 150;

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/**
 * The terminal of the process. Unlike the TUI package's, it restores all modes when stopped early and
 * survives a terminal that was closed.
 */
export class ChatTerminal implements Terminal {
  readonly #streams: TerminalStreams;
  readonly #onClosed: () => void;
  readonly #keys = new StdinBuffer({ timeout: 10 });
  readonly #pastes: PasteDetector;
  #onInput: (data: string) => void = () => undefined;
  #onResize: () => void = () => undefined;
  #keyMode: 'plain' | 'kitty' | 'other' = 'plain';
  #fallback: NodeJS.Timeout | null = null;
  #isOpen = false;

  constructor(streams: TerminalStreams, onClosed: () => void) {
    this.#streams = streams;
    this.#onClosed = onClosed;
    this.#keys.on('data', (sequence) => this.#take(sequence));
    this.#keys.on('paste', (text) => this.#onInput(`\u001B[200~${text}\u001B[201~`));
    this.#pastes = new PasteDetector(
      (data) => this.#keys.process(data),
      (data) => this.#onInput(data),
    );
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    const { input, output } = this.#streams;
    this.#onInput = onInput;
    this.#onResize = onResize;
    this.#isOpen = true;
    input.setRawMode(true);
    input.setEncoding('utf8');
    input.on('data', this.#handleData);
    input.on('end', this.#onClosed);
    input.on('error', this.#onClosed);
    output.on('error', this.#onClosed);
    output.on('resize', this.#onResize);
    input.resume();
    // Also restores the cursor when the process exits without stop().
    process.once('exit', this.#restore);
    this.write(BRACKETED_PASTE.on + KITTY.ask);
    this.#fallback = setTimeout(() => this.#useOtherKeys(), KITTY_WAIT_MS);
  }

  stop(): void {
    if (!this.#isOpen) return;
    const { input, output } = this.#streams;
    const keysOff = { plain: '', kitty: KITTY.off, other: OTHER_KEYS.off }[this.#keyMode];
    this.write(BRACKETED_PASTE.off + keysOff);
    this.#isOpen = false;
    process.off('exit', this.#restore);
    setKittyProtocolActive(false);
    if (this.#fallback !== null) clearTimeout(this.#fallback);
    this.#keys.destroy();
    input.off('data', this.#handleData);
    output.off('resize', this.#onResize);
    input.pause();
    if (!input.destroyed) input.setRawMode(false);
  }

  async drainInput(): Promise<void> {
    // Remaining input is left for the next reader of the terminal.
  }

  write(data: string): void {
    const { output } = this.#streams;
    if (this.#isOpen && output.writable) output.write(data);
  }

  get columns(): number {
    return this.#streams.output.columns || DEFAULT_COLUMNS;
  }

  get rows(): number {
    return this.#streams.output.rows || DEFAULT_ROWS;
  }

  get kittyProtocolActive(): boolean {
    return this.#keyMode === 'kitty';
  }

  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\u001B[${lines}B` : `\u001B[${-lines}A`);
  }

  hideCursor(): void {
    this.write('\u001B[?25l');
  }

  showCursor(): void {
    this.write('\u001B[?25h');
  }

  clearLine(): void {
    this.write('\u001B[K');
  }

  clearFromCursor(): void {
    this.write('\u001B[J');
  }

  clearScreen(): void {
    this.write('\u001B[2J\u001B[H');
  }

  setTitle(): void {
    // The window title is not changed.
  }

  setProgress(): void {
    // The activity line shows progress instead.
  }

  readonly #restore = (): void => {
    this.showCursor();
    this.stop();
  };

  readonly #handleData = (data: string): void => this.#pastes.take(data);

  #take(sequence: string): void {
    if (isKittyAnswer(sequence)) this.#useKitty();
    else this.#onInput(sequence);
  }

  #useKitty(): void {
    if (this.#keyMode !== 'plain') return;
    this.#keyMode = 'kitty';
    setKittyProtocolActive(true);
    this.write(KITTY.on);
  }

  /** Some terminals report Shift-Enter only in this mode. */
  #useOtherKeys(): void {
    if (this.#keyMode !== 'plain') return;
    this.#keyMode = 'other';
    this.write(OTHER_KEYS.on);
  }
}

function isKittyAnswer(sequence: string): boolean {
  return sequence.startsWith('\u001B[?') && /^\d+u$/u.test(sequence.slice(3));
}
