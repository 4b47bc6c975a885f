import { Input } from '@earendil-works/pi-tui/dist/components/input.js';
import { decodeKittyPrintable, matchesKey } from '@earendil-works/pi-tui/dist/keys.js';
import type { Component, Focusable } from '@earendil-works/pi-tui/dist/tui.js';
import { colors } from '../../output/colors.ts';
import { fitWidth, wrapLines } from './part.ts';
import type { Choice, ChoiceOption, OpenQuestion } from './view.ts';

/** Replaces the editor until the user has answered. */
export interface Panel extends Component, Focusable {
  handleInput(data: string): void;
}

/** How many rows of a panel's subject fit on the screen now. */
type CountRows = () => number;

type OnAnswer<Answer> = (answer: Answer | null) => void;

// Rows needed by the title, the options and the lines around the editor.
const ROWS_AROUND = 12;
const MIN_ROWS = 4;

/** A choice of one or several options. */
export class ChoicePanel implements Panel {
  focused = false;
  readonly #choice: Choice;
  readonly #countRows: CountRows;
  readonly #answered: OnAnswer<readonly string[]>;
  readonly #marked: Set<string> | null;
  #at = 0;

  constructor(
    choice: Choice,
    takesSeveral: boolean,
    countRows: CountRows,
    answered: OnAnswer<readonly string[]>,
  ) {
    this.#choice = choice;
    this.#countRows = countRows;
    this.#answered = answered;
    this.#marked = takesSeveral ? new Set() : null;
  }

  invalidate(): void {
    // Nothing is cached between frames.
  }

  handleInput(data: string): void {
    const { options } = this.#choice;
    if (matchesKey(data, 'escape')) this.#answered(null);
    else if (matchesKey(data, 'up')) this.#move(-1);
    else if (matchesKey(data, 'down') || matchesKey(data, 'tab')) this.#move(1);
    else if (matchesKey(data, 'enter')) this.#confirm(options[this.#at]);
    else if (this.#marked !== null && matchesKey(data, 'space')) this.#mark(options[this.#at]);
    else {
      const pressed = (decodeKittyPrintable(data) ?? data).toLowerCase();
      this.#press(options.find(({ key }) => key === pressed));
    }
  }

  #move(by: number): void {
    const { length } = this.#choice.options;
    this.#at = (this.#at + by + length) % length;
  }

  #mark(option: ChoiceOption | undefined): void {
    if (option === undefined || this.#marked === null) return;
    if (!this.#marked.delete(option.value)) this.#marked.add(option.value);
  }

  #press(option: ChoiceOption | undefined): void {
    if (option === undefined) return;
    if (this.#marked === null) this.#answered([option.value]);
    else this.#mark(option);
  }

  #confirm(option: ChoiceOption | undefined): void {
    if (this.#marked !== null) this.#answered([...this.#marked]);
    else if (option !== undefined) this.#answered([option.value]);
  }

  render(width: number): string[] {
    const { title, lines, options } = this.#choice;
    return [
      formatBorder(width),
      ...wrapLines(colors.bold(title), width),
      ...formatPreview(lines, width, this.#countRows()),
      ...options.flatMap((option, at) => this.#formatOption(option, at, width)),
      colors.dim(this.#marked === null ? formatChoiceHint(this.#choice) : MULTI_CHOICE_HINT),
      formatBorder(width),
    ].map((line) => fitWidth(line, width));
  }

  #formatOption(option: ChoiceOption, at: number, width: number): string[] {
    const isChosen = at === this.#at;
    const mark = this.#marked === null ? '' : formatMark(this.#marked.has(option.value));
    const key = option.key === undefined ? '' : ` (${option.key})`;
    const label = `${isChosen ? '>' : ' '} ${mark}${option.label}${key}`;
    const about = option.about === undefined ? '' : colors.dim(` ${option.about}`);
    return wrapLines((isChosen ? colors.cyan(label) : label) + about, width);
  }
}

function formatMark(isMarked: boolean): string {
  return isMarked ? '[x] ' : '[ ] ';
}

function formatChoiceHint({ cancelLabel = 'cancel' }: Choice): string {
  return `↑↓ select · Enter confirm · Esc ${cancelLabel}`;
}

const MULTI_CHOICE_HINT = 'Space toggle · Enter confirm · Esc cancel';

/** A question that is answered with a line of text. */
export class QuestionPanel implements Panel {
  focused = true;
  readonly #question: OpenQuestion;
  readonly #countRows: CountRows;
  readonly #input = new Input();

  constructor(question: OpenQuestion, countRows: CountRows, answered: OnAnswer<string>) {
    this.#question = question;
    this.#countRows = countRows;
    this.#input.focused = true;
    this.#input.onSubmit = (text) => answered(text);
    this.#input.onEscape = () => answered(null);
  }

  invalidate(): void {
    // Nothing is cached between frames.
  }

  handleInput(data: string): void {
    this.#input.handleInput(data);
  }

  render(width: number): string[] {
    const { title, lines, hint } = this.#question;
    return [
      formatBorder(width),
      ...wrapLines(colors.bold(title), width),
      ...formatPreview(lines, width, this.#countRows()),
      ...this.#input.render(width),
      colors.dim(hint),
      formatBorder(width),
    ].map((line) => fitWidth(line, width));
  }
}

function formatBorder(width: number): string {
  return colors.dim('─'.repeat(width));
}

/** Truncates the lines to the free rows. */
function formatPreview(lines: readonly string[], width: number, rows: number): string[] {
  const all = lines.flatMap((line) => wrapLines(line, width));
  const room = Math.max(MIN_ROWS, rows - ROWS_AROUND);
  if (all.length <= room) return all;
  const rest = all.length - room + 1;
  return [...all.slice(0, room - 1), colors.dim(`… ${rest} more lines (ctrl+o to show)`)];
}

type MakePanel<Answer> = (answered: (answer: Answer | null) => void) => Panel;

/** Shows one panel at a time; others wait in order. */
export class Panels {
  readonly #show: (panel: Panel | null) => void;
  #last: Promise<unknown> = Promise.resolve();
  #dismiss: (() => void) | null = null;
  #isClosed = false;

  constructor(show: (panel: Panel | null) => void) {
    this.#show = show;
  }

  /** Null when the user cancels or the signal aborts. */
  open<Answer>(make: MakePanel<Answer>, signal: AbortSignal): Promise<Answer | null> {
    const opened = this.#last.then(() => this.#openNow(make, signal));
    this.#last = opened;
    return opened;
  }

  /** Cancels the open panel. */
  dismiss(): void {
    this.#dismiss?.();
  }

  /** Cancels all panels, now and later. */
  close(): void {
    this.#isClosed = true;
    this.dismiss();
  }

  async #openNow<Answer>(make: MakePanel<Answer>, signal: AbortSignal): Promise<Answer | null> {
    if (signal.aborted || this.#isClosed) return null;
    try {
      return await new Promise<Answer | null>((resolve) => {
        this.#dismiss = () => resolve(null);
        signal.addEventListener('abort', this.#dismiss, { once: true });
        this.#show(make(resolve));
      });
    } finally {
      this.#dismiss = null;
      this.#show(null);
    }
  }
}
