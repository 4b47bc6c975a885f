import { setTimeout as wait } from 'node:timers/promises';
import { setCapabilities } from '@earendil-works/pi-tui/dist/terminal-image.js';
import type { Terminal } from '@earendil-works/pi-tui/dist/terminal.js';
import { type Component, TUI } from '@earendil-works/pi-tui/dist/tui.js';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { colors } from '../../output/colors.ts';
import { Answer } from './answer.ts';
import {
  createCompletion,
  createKeyHandler,
  PromptEditor,
  TypeaheadGuard,
} from './prompt-input.ts';
import { Log } from './log.ts';
import { ChoicePanel, type Panel, Panels, QuestionPanel } from './panel.ts';
import { fitWidth, createTextPart, wrapLines } from './part.ts';
import type {
  AnswerView,
  ChatView,
  Choice,
  CommandCompletion,
  Fold,
  UserActions,
  OpenQuestion,
} from './view.ts';

// Slightly longer than the TUI package's frame interval.
const FRAME_MS = 20;

/** The view on a full terminal; accepts input at once. */
export class Screen implements ChatView {
  readonly #tui: TUI;
  readonly #log = new Log();
  readonly #editor: PromptEditor;
  readonly #slot: Slot;
  readonly #panels: Panels;
  readonly #typeahead: TypeaheadGuard;
  readonly #activity = new Lines();
  readonly #queued = new Lines();
  readonly #status = new Lines();
  readonly #terminal: Terminal;
  #commands: readonly CommandCompletion[] = [];

  /** `directory` is the base of file completion. */
  constructor(
    terminal: Terminal,
    actions: UserActions,
    directory: string,
    clock: Clock = systemClock,
  ) {
    // Images and links are disabled, because foreign text could use them to send hidden output.
    setCapabilities({ images: null, trueColor: false, hyperlinks: false });
    this.#terminal = terminal;
    this.#tui = new TUI(terminal);
    this.#editor = new PromptEditor(this.#tui, actions.submit);
    this.#editor.setAutocompleteProvider(createCompletion(directory, () => this.#commands));
    this.#slot = new Slot(this.#editor);
    this.#typeahead = new TypeaheadGuard(clock);
    this.#panels = new Panels((panel) => this.#showPanel(panel));
    const parts = [this.#log, this.#activity, this.#queued, this.#slot, this.#status];
    for (const part of parts) this.#tui.addChild(part);
    this.#listen(actions);
    this.#tui.setFocus(this.#editor);
    this.#tui.start();
  }

  /** The package draws in a timer, which work started right away would delay. */
  async waitUntilDrawn(): Promise<void> {
    await wait(0);
    await wait(0);
  }

  showText(text: string): void {
    if (!text.startsWith('\n')) this.#log.leaveGap();
    this.#log.add(createTextPart(text));
    this.#draw();
  }

  fold(fold: Fold): void {
    this.#log.leaveGap();
    this.#log.addFold(fold);
    this.#draw();
  }

  answer(): AnswerView {
    this.#log.leaveGap();
    return new Answer(this.#log, () => this.#draw());
  }

  setActivity(text: string | null): void {
    this.#set(this.#activity, text === null ? [] : [colors.dim(text)]);
  }

  setQueued(texts: readonly string[]): void {
    this.#set(
      this.#queued,
      texts.map((text) => colors.dim(`> ${text} (queued)`)),
    );
  }

  setStatus(text: string): void {
    this.#set(this.#status, [text]);
  }

  setCommands(commands: readonly CommandCompletion[]): void {
    this.#commands = commands;
  }

  addHistory(prompts: readonly string[]): void {
    for (const prompt of prompts) this.#editor.addToHistory(prompt);
  }

  async choose(choice: Choice, signal: AbortSignal): Promise<string | null> {
    const [chosen] = (await this.#choose(choice, false, signal)) ?? [];
    return chosen ?? null;
  }

  chooseMany(choice: Choice, signal: AbortSignal): Promise<readonly string[] | null> {
    return this.#choose(choice, true, signal);
  }

  ask(question: OpenQuestion, signal: AbortSignal): Promise<string | null> {
    return this.#panels.open<string>(
      (answered) => new QuestionPanel(question, this.#countRows, answered),
      signal,
    );
  }

  restoreDraft(text: string): void {
    const draft = this.#editor.getText();
    this.#editor.setText(draft === '' ? text : `${text}\n${draft}`);
    this.#draw();
  }

  dismissAll(): void {
    this.#panels.close();
  }

  clear(): void {
    this.#log.clear();
    this.#tui.requestRender(true);
  }

  async close(): Promise<void> {
    if (this.#slot.isClosed) return;
    this.#slot.isClosed = true;
    this.dismissAll();
    this.#set(this.#activity, []);
    this.#set(this.#status, []);
    // Waits for the last frame, so that later output appears below it.
    await wait(FRAME_MS);
    this.#tui.stop();
  }

  #listen(actions: UserActions): void {
    const handleKey = createKeyHandler(actions, this.#editor, {
      hasPanel: () => this.#slot.panel !== null,
      dismissPanel: () => this.#panels.dismiss(),
      isTypeahead: () => this.#slot.panel !== null && this.#typeahead.isTypeahead(),
      toggleFolds: () => this.#toggleFolds(),
    });
    this.#tui.addInputListener((data) => {
      if (!handleKey(data)) return undefined;
      this.#draw();
      return { consume: true };
    });
  }

  #choose(
    choice: Choice,
    takesSeveral: boolean,
    signal: AbortSignal,
  ): Promise<readonly string[] | null> {
    return this.#panels.open<readonly string[]>(
      (answered) => new ChoicePanel(choice, takesSeveral, this.#countRows, answered),
      signal,
    );
  }

  readonly #countRows = (): number => this.#terminal.rows;

  /** Of the panel while there is one: a question always begins with both ends of its subject. */
  #toggleFolds(): void {
    if (this.#slot.panel === null) this.#log.toggleFolds();
    else this.#slot.panel.toggleFold();
  }

  #showPanel(panel: Panel | null): void {
    this.#slot.panel = panel;
    if (panel !== null) this.#typeahead.start(this.#editor.getText());
    this.#tui.setFocus(panel ?? this.#editor);
    this.#draw();
  }

  #set(lines: Lines, texts: readonly string[]): void {
    lines.texts = texts;
    this.#draw();
  }

  #draw(): void {
    this.#tui.requestRender();
  }
}

/** A block of lines that is replaced as a whole. */
class Lines implements Component {
  texts: readonly string[] = [];

  invalidate(): void {
    // Nothing is cached between frames.
  }

  render(width: number): string[] {
    return this.texts
      .flatMap((text) => wrapLines(text, width))
      .map((line) => fitWidth(line, width));
  }
}

/** The editor, or the panel that replaces it. */
class Slot implements Component {
  readonly #editor: PromptEditor;
  panel: Panel | null = null;
  isClosed = false;

  constructor(editor: PromptEditor) {
    this.#editor = editor;
  }

  invalidate(): void {
    this.#editor.invalidate();
  }

  render(width: number): string[] {
    if (this.isClosed) return [];
    return (this.panel ?? this.#editor).render(width);
  }
}
