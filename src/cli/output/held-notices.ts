import { type Printer, toPrintable } from './print.ts';

/**
 * Holds the notices of a host until a command has printed its result, because a file that cannot be read is both a
 * notice and part of a verdict, and is printed once.
 */
export class HeldNotices {
  readonly #print: Printer;
  readonly #texts: string[] = [];

  constructor(print: Printer) {
    this.#print = print;
  }

  readonly add = (text: string): void => void this.#texts.push(text);

  /** Prints the notices that are not about one of the problems in the result. */
  printOthers(problems: readonly string[]): void {
    for (const text of this.#texts.splice(0)) {
      const isPrinted = problems.some((problem) => text.includes(`: ${problem}`));
      if (!isPrinted) this.#print.note(`note: ${toPrintable(text)}`);
    }
  }
}
