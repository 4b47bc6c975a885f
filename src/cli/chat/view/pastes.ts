const BEGINS = '\u001B[200~';
const ENDS = '\u001B[201~';

export interface PasteListener {
  readonly onKeys: (data: string) => void;
  /** Gets what was pasted, with the marks around it. */
  readonly onPaste: (data: string) => void;
}

/**
 * Tells what is pasted from what is typed. A terminal hands a paste over in thousands of pieces, so
 * each of them is looked at once.
 */
export class Pastes {
  readonly #listener: PasteListener;
  #pieces: string[] | null = null;
  /** Where the end may have begun. */
  #rest = '';

  constructor(listener: PasteListener) {
    this.#listener = listener;
  }

  take(data: string): void {
    if (this.#pieces !== null) return this.#gather(this.#pieces, data);
    const begin = data.indexOf(BEGINS);
    if (begin === -1) return this.#listener.onKeys(data);
    if (begin > 0) this.#listener.onKeys(data.slice(0, begin));
    this.#pieces = [];
    return this.#gather(this.#pieces, data.slice(begin + BEGINS.length));
  }

  #gather(pieces: string[], data: string): void {
    const text = this.#rest + data;
    const end = text.indexOf(ENDS);
    if (end === -1) {
      const kept = ENDS.length - 1;
      pieces.push(text.slice(0, -kept));
      this.#rest = text.slice(-kept);
      return;
    }
    this.#pieces = null;
    this.#rest = '';
    this.#listener.onPaste(`${BEGINS}${[...pieces, text.slice(0, end)].join('')}${ENDS}`);
    const after = text.slice(end + ENDS.length);
    if (after !== '') this.take(after);
  }
}
