import { type Printer, serializeJson } from './print.ts';

/** An error as programs read it. */
export interface ErrorObject {
  /** Of `base/errors.ts`, or INTERNAL_ERROR. */
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

/** A printer for `--json`, whose stderr holds one object when the command fails. */
export interface JsonPrinter extends Printer {
  /** Prints the error, together with the notes before it. */
  error(error: ErrorObject): void;
  /** Prints the notes that were held. */
  flush(): void;
}

/** Notes are held until the command ends, or until they are so many that somebody may be waiting for them. */
const MOST_HELD_CHARACTERS = 64 * 1024;

/** `isLive`: the command prints no result at its end, so that nothing is held. */
export function createJsonPrinter(print: Printer, isLive: boolean): JsonPrinter {
  let notes: string[] = [];
  let isHolding = !isLive;
  const flush = (): void => {
    isHolding = false;
    for (const text of notes.splice(0)) print.note(text);
  };
  return {
    ...print,
    note(text) {
      if (!isHolding) {
        print.note(text);
        return;
      }
      notes.push(text);
      if (notes.join('').length > MOST_HELD_CHARACTERS) flush();
    },
    error(error) {
      print.note(serializeJson({ error, ...(notes.length === 0 ? {} : { notes }) }));
      notes = [];
    },
    flush,
  };
}
