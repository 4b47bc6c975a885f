import { isDeepStrictEqual } from 'node:util';

/**
 * The texts of settings files. A change counts only once it is taken over, and then as it was looked
 * at: what hooks agreed to is what is read, whatever was written meanwhile.
 */
export interface HeldTexts<Text> {
  readonly readNow: (file: string) => Text;
  /** As it last counted. */
  readonly readCurrent: (file: string) => Text;
  /** Whether the file holds something else now than what counts. */
  isPending(file: string): boolean;
  /** Looks at what the file holds now, without letting it count. */
  readPending(file: string): void;
  /** Lets what was last looked at count, or drops it. */
  resolvePending(file: string, isTaken: boolean): void;
}

export function createHeldTexts<Text>(read: (file: string) => Text): HeldTexts<Text> {
  const counting = new Map<string, { readonly text: Text }>();
  const seen = new Map<string, { readonly text: Text }>();
  const readNow = (file: string): Text => {
    const text = read(file);
    counting.set(file, { text });
    return text;
  };
  return {
    readNow,
    readCurrent(file) {
      const known = counting.get(file);
      return known === undefined ? readNow(file) : known.text;
    },
    isPending(file) {
      const known = counting.get(file);
      return known !== undefined && !isDeepStrictEqual(known.text, read(file));
    },
    readPending(file) {
      seen.set(file, { text: read(file) });
    },
    resolvePending(file, isTaken) {
      const looked = seen.get(file);
      seen.delete(file);
      if (isTaken && looked !== undefined) counting.set(file, looked);
    },
  };
}
