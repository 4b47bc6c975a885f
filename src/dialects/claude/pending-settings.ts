import { isDeepStrictEqual } from 'node:util';

/**
 * The texts of settings files. A change takes effect only after it is accepted, with the text that
 * was read for the ConfigChange hooks, even if the file has changed again since.
 */
export interface HeldTexts<Text> {
  readonly readNow: (file: string) => Text;
  /** Returns the text that is in effect. */
  readonly readCurrent: (file: string) => Text;
  /** Whether the file differs from the text in effect. */
  isPending(file: string): boolean;
  /** Reads the file without making its text effective. */
  readPending(file: string): void;
  /** Makes the text that was last read effective, or drops it. */
  resolvePending(file: string, isTaken: boolean): void;
}

export function createHeldTexts<Text>(read: (file: string) => Text): HeldTexts<Text> {
  const counting = new Map<string, { readonly text: Text }>();
  const pending = new Map<string, { readonly text: Text }>();
  const readNow = (file: string): Text => {
    const text = read(file);
    counting.set(file, { text });
    return text;
  };
  return {
    readNow,
    readCurrent(file) {
      const current = counting.get(file);
      return current === undefined ? readNow(file) : current.text;
    },
    isPending(file) {
      const current = counting.get(file);
      return current !== undefined && !isDeepStrictEqual(current.text, read(file));
    },
    readPending(file) {
      pending.set(file, { text: read(file) });
    },
    resolvePending(file, isTaken) {
      const looked = pending.get(file);
      pending.delete(file);
      if (isTaken && looked !== undefined) counting.set(file, looked);
    },
  };
}
