import { getErrorMessage } from '../../base/errors.ts';
import { MISSING_GUARD } from '../../host/missing-guards.ts';
import { type Printer, toPrintable } from './print.ts';

/**
 * Holds the notices of a host until a command has printed its result, because a file that cannot be read is both a
 * notice and part of the result or its error, and is printed once.
 */
export class HeldNotices {
  readonly #print: Printer;
  readonly #texts: string[] = [];

  constructor(print: Printer) {
    this.#print = print;
  }

  readonly add = (text: string): void => void this.#texts.push(text);

  /** Runs a command, and prints at its end what is left. */
  async run<Result>(command: () => Promise<Result>): Promise<Result> {
    try {
      return await command();
    } catch (error) {
      const message = getErrorMessage(error);
      // Errors name a place as `FILE: line 3: why`.
      this.printOthers((notice) =>
        message.includes(notice.replace(/ line (\d+): /, ': line $1: ')),
      );
      throw error;
    } finally {
      this.printOthers(() => false);
    }
  }

  /** Prints the notices, but for those that are printed anyway. */
  printOthers(isPrinted: (notice: string) => boolean): void {
    for (const text of this.#texts.splice(0)) {
      const notice = text.replace(`${MISSING_GUARD}: `, '');
      if (!isPrinted(notice)) this.#print.note(`note: ${toPrintable(text)}`);
    }
  }
}
