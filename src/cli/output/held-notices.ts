import { getErrorMessage } from '../../base/errors.ts';
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
      this.printOthers([getErrorMessage(error)]);
      throw error;
    } finally {
      this.printOthers([]);
    }
  }

  /** Prints the notices that are not about one of the problems that are printed anyway. */
  printOthers(problems: readonly string[]): void {
    for (const text of this.#texts.splice(0)) {
      const isPrinted = problems.some((problem) => isAbout(text, problem));
      if (!isPrinted) this.#print.note(`note: ${toPrintable(text)}`);
    }
  }
}

function isAbout(notice: string, problem: string): boolean {
  const reason = / line \d+: (.+)$/s.exec(notice)?.[1];
  return notice.includes(`: ${problem}`) || (reason !== undefined && problem.includes(reason));
}
