import { Input } from '@earendil-works/pi-tui/dist/components/input.js';
import { decodeKittyPrintable, matchesKey } from '@earendil-works/pi-tui/dist/keys.js';
import type { Component, Focusable } from '@earendil-works/pi-tui/dist/tui.js';
import { colors } from '../../output/colors.ts';
import { fitWidth, wrapLines } from './part.ts';
import type { Choice, ChoiceOption, OpenQuestion } from './view.ts';

/** Replaces the editor until the user has answered. */
export interface Panel extends Component, Focusable {
  handleInput(data: string): void;
  /** Shows all of the subject, or its two ends again. */
  toggleFold(): void;
}

/** How many rows the screen has now. */
type CountRows = () => number;

type OnAnswer<Answer> = (answer: Answer | null) => void;

// Rows needed by the title, the options and the lines around the editor.
const ROWS_AROUND = 12;
const MIN_ROWS = 4;

/** A choice of one or several options. */
export class ChoicePanel implements Panel {
  focused = false;
  readonly #choice: Choice;
  readonly #subject: Subject;
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
    this.#subject = new Subject(choice.lines, countRows);
    this.#answered = answered;
    this.#marked = takesSeveral ? new Set() : null;
  }

  invalidate(): void {
    // Nothing is cached between frames.
  }

  handleInput(data: string): void {
    const { options } = this.#choice;
    if (this.#subject.scroll(data)) return;
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

  toggleFold(): void {
    this.#subject.toggle();
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
    const { title, options } = this.#choice;
    return [
      formatBorder(width),
      ...wrapLines(colors.bold(title), width),
      ...this.#subject.render(width),
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
  readonly #subject: Subject;
  readonly #input = new Input();

  constructor(question: OpenQuestion, countRows: CountRows, answered: OnAnswer<string>) {
    this.#question = question;
    this.#subject = new Subject(question.lines, countRows);
    this.#input.focused = true;
    this.#input.onSubmit = (text) => answered(text);
    this.#input.onEscape = () => answered(null);
  }

  invalidate(): void {
    // Nothing is cached between frames.
  }

  handleInput(data: string): void {
    if (!this.#subject.scroll(data)) this.#input.handleInput(data);
  }

  toggleFold(): void {
    this.#subject.toggle();
  }

  render(width: number): string[] {
    const { title, hint } = this.#question;
    return [
      formatBorder(width),
      ...wrapLines(colors.bold(title), width),
      ...this.#subject.render(width),
      ...this.#input.render(width),
      colors.dim(hint),
      formatBorder(width),
    ].map((line) => fitWidth(line, width));
  }
}

function formatBorder(width: number): string {
  return colors.dim('─'.repeat(width));
}

/**
 * What a panel asks about. Where it is longer than the screen, its beginning and its end are shown, so that
 * nothing is left out between what is read last and the options; unfolded, all of it can be scrolled.
 */
class Subject {
  readonly #lines: readonly string[];
  readonly #countRows: CountRows;
  #isUnfolded = false;
  #top = 0;
  #page = 0;

  constructor(lines: readonly string[], countRows: CountRows) {
    this.#lines = lines;
    this.#countRows = countRows;
  }

  toggle(): void {
    this.#isUnfolded = !this.#isUnfolded;
    this.#top = 0;
  }

  /** Whether the key scrolled. */
  scroll(data: string): boolean {
    if (!this.#isUnfolded || this.#page === 0) return false;
    if (matchesKey(data, 'pageUp')) this.#top -= this.#page;
    else if (matchesKey(data, 'pageDown')) this.#top += this.#page;
    else if (matchesKey(data, 'home')) this.#top = 0;
    else if (matchesKey(data, 'end')) this.#top = Number.MAX_SAFE_INTEGER;
    else return false;
    return true;
  }

  render(width: number): string[] {
    const all = this.#lines.flatMap((line) => wrapLines(line, width));
    const room = Math.max(MIN_ROWS, this.#countRows() - ROWS_AROUND);
    this.#page = 0;
    if (all.length <= room) return all;
    return this.#isUnfolded ? this.#renderPage(all, room - 1) : foldMiddle(all, room - 1);
  }

  #renderPage(all: readonly string[], page: number): string[] {
    this.#page = page;
    this.#top = Math.max(0, Math.min(this.#top, all.length - page));
    const end = this.#top + page;
    const position = `lines ${this.#top + 1}–${end} of ${all.length}`;
    return [
      ...all.slice(this.#top, end),
      colors.dim(`${position} (PgUp PgDn scroll · ctrl+o fold)`),
    ];
  }
}

function foldMiddle(all: readonly string[], shown: number): string[] {
  const head = Math.ceil(shown / 2);
  const tail = shown - head;
  const note = colors.yellow(`… ${all.length - shown} lines not shown here (ctrl+o shows all)`);
  return [...all.slice(0, head), note, ...all.slice(all.length - tail)];
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
