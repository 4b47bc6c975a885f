import { isDeepStrictEqual } from 'node:util';

/**
 * The texts of settings files. A change takes effect only after it is accepted, with the text that
 * was read for the ConfigChange hooks, even if the file has changed again since.
 */
export class PendingSettings<Text> {
  readonly #read: (file: string) => Text;
  readonly #effective = new Map<string, { readonly text: Text }>();
  readonly #pending = new Map<string, { readonly text: Text }>();

  constructor(read: (file: string) => Text) {
    this.#read = read;
  }

  /** Reads the file and makes its text effective. */
  readNow(file: string): Text {
    const text = this.#read(file);
    this.#effective.set(file, { text });
    return text;
  }

  /** Returns the text that is in effect. */
  readCurrent(file: string): Text {
    const current = this.#effective.get(file);
    return current === undefined ? this.readNow(file) : current.text;
  }

  /** Whether the file differs from the text in effect. */
  isPending(file: string): boolean {
    const current = this.#effective.get(file);
    return current !== undefined && !isDeepStrictEqual(current.text, this.#read(file));
  }

  /** Reads the file without making its text effective. */
  readPending(file: string): void {
    this.#pending.set(file, { text: this.#read(file) });
  }

  /** Makes the text that was last read effective, or drops it. */
  resolvePending(file: string, isTaken: boolean): void {
    const pending = this.#pending.get(file);
    this.#pending.delete(file);
    if (isTaken && pending !== undefined) this.#effective.set(file, pending);
  }
}
