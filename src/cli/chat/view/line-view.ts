import { createInterface, type Interface } from 'node:readline';
import type {
  AnswerView,
  ChatView,
  Choice,
  ChoiceOption,
  Fold,
  UserActions,
  OpenQuestion,
} from './view.ts';

/** A view for terminals without cursor control: text is written once, and folds stay closed. */
export class LineView implements ChatView {
  readonly #output: { write(text: string): unknown };
  readonly #actions: UserActions;
  readonly #lines: Interface;
  /** Questions that wait for the next line. */
  readonly #waiting: ((line: string) => void)[] = [];
  #status = '';
  #isDismissed = false;

  constructor(
    input: NodeJS.ReadableStream,
    output: { write(text: string): unknown },
    actions: UserActions,
  ) {
    this.#output = output;
    this.#actions = actions;
    this.#lines = createInterface({ input, terminal: false });
    this.#lines.on('line', (line) => this.#take(line));
    this.#lines.on('close', this.#handleClose);
  }

  async waitUntilDrawn(): Promise<void> {
    // Output is visible at once.
  }

  showText(text: string): void {
    this.#write(`${text}\n`);
  }

  fold({ head }: Fold): void {
    this.showText(head.replace(' (ctrl+o)', ''));
  }

  answer(): AnswerView {
    let written = '';
    return {
      append: (text) => {
        written += text;
        this.#write(text);
      },
      end: (text) => {
        const isWritten = text.trim() === written.trim();
        this.#write(isWritten ? '\n' : `\n${text}\n`);
      },
      discard: () => this.showText('\n(discarded)'),
    };
  }

  setActivity(text: string | null): void {
    if (text === null) this.#write('> ');
    else if (text.startsWith('waiting for')) this.showText(text);
  }

  setQueued(texts: readonly string[]): void {
    const last = texts.at(-1);
    if (last !== undefined) this.showText(`(queued) ${last}`);
  }

  setStatus(text: string): void {
    if (text !== this.#status) this.showText(`[${text}]`);
    this.#status = text;
  }

  setCommands(): void {
    // There is no completion here.
  }

  addHistory(): void {
    // There is no history key here.
  }

  async choose(choice: Choice, signal: AbortSignal): Promise<string | null> {
    const line = await this.#askFor(choice, '(key; empty line cancels) ? ', signal);
    return findOption(choice, line)?.value ?? null;
  }

  async chooseMany(choice: Choice, signal: AbortSignal): Promise<readonly string[] | null> {
    const line = await this.#askFor(choice, '(keys; empty line cancels) ? ', signal);
    if (line === '') return null;
    return line.split(/[\s,]+/u).flatMap((key) => findOption(choice, key)?.value ?? []);
  }

  async ask({ title, lines, hint }: OpenQuestion, signal: AbortSignal): Promise<string | null> {
    this.showText([title, ...lines, hint].join('\n'));
    const line = await this.#readLine('? ', signal);
    return signal.aborted || this.#isDismissed ? null : line;
  }

  /** The text cannot be put back into the editor, so it is printed. */
  restoreDraft(text: string): void {
    this.showText(`(not sent) ${text}`);
  }

  dismissAll(): void {
    this.#isDismissed = true;
    for (const resolve of this.#waiting.splice(0)) resolve('');
  }

  clear(): void {
    this.showText('');
  }

  async close(): Promise<void> {
    this.dismissAll();
    this.#lines.off('close', this.#handleClose);
    this.#lines.close();
  }

  readonly #handleClose = (): void => {
    this.dismissAll();
    this.#actions.leave();
  };

  #take(line: string): void {
    this.#actions.noteKey();
    const answerQuestion = this.#waiting.shift();
    if (answerQuestion === undefined) this.#actions.submit(line);
    else answerQuestion(line);
  }

  #askFor({ title, lines, options }: Choice, hint: string, signal: AbortSignal): Promise<string> {
    this.showText([title, ...lines, ...options.map(formatOption)].join('\n'));
    return this.#readLine(hint, signal);
  }

  /** The next line; an empty one when the question was dismissed. */
  #readLine(hint: string, signal: AbortSignal): Promise<string> {
    if (signal.aborted || this.#isDismissed) return Promise.resolve('');
    this.#write(hint);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      const cancel = (): void => {
        const at = this.#waiting.indexOf(resolve);
        if (at !== -1) this.#waiting.splice(at, 1);
        resolve('');
      };
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  #write(text: string): void {
    this.#output.write(text);
  }
}

function formatOption(option: ChoiceOption, at: number): string {
  const about = option.about === undefined ? '' : ` ${option.about}`;
  return `  ${getKey(option, at)}) ${option.label}${about}`;
}

function findOption({ options }: Choice, line: string): ChoiceOption | undefined {
  return options.find((option, at) => getKey(option, at) === line.trim().toLowerCase());
}

function getKey({ key }: ChoiceOption, at: number): string {
  return key ?? String(at + 1);
}
