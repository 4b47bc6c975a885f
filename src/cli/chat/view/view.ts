/**
 * What the chat is drawn on. All text passed to it is free of control characters and secrets, except our
 * own colors.
 */
export interface ChatView {
  /** Resolves when the view is visible. */
  waitUntilDrawn(): Promise<void>;
  /** Appends text to the log; long lines are wrapped. */
  showText(text: string): void;
  /** Appends a line with folded details. */
  fold(fold: Fold): void;
  /** Starts an answer that arrives in pieces of Markdown. */
  answer(): AnswerView;
  /** Sets the activity line; null removes it. */
  setActivity(text: string | null): void;
  /** Shows prompts that the agent has not read yet. */
  setQueued(texts: readonly string[]): void;
  setStatus(text: string): void;
  /** Sets the commands for completion. */
  setCommands(commands: readonly CommandCompletion[]): void;
  /** Adds prompts to the editor's history, most recent last. */
  addHistory(prompts: readonly string[]): void;
  /** Asks for one option; null when the user cancels. */
  choose(choice: Choice, signal: AbortSignal): Promise<string | null>;
  /** Asks for any number of options; null when the user cancels. */
  chooseMany(choice: Choice, signal: AbortSignal): Promise<readonly string[] | null>;
  /** Asks for a line of text; null when the user cancels. */
  ask(question: OpenQuestion, signal: AbortSignal): Promise<string | null>;
  /** Puts an unsent prompt back into the editor, before what is typed. */
  restoreDraft(text: string): void;
  /** Cancels all questions, now and later. */
  dismissAll(): void;
  /** Clears the log. */
  clear(): void;
  /** Restores the terminal. Idempotent. */
  close(): Promise<void>;
}

/** Callbacks for the user's input. */
export interface UserActions {
  readonly submit: (text: string) => void;
  /** Ctrl-C in an empty editor or in a panel. */
  readonly interrupt: () => void;
  readonly escape: () => void;
  /** Ctrl-D in an empty editor, or the terminal was closed. */
  readonly leave: () => void;
  readonly cycleMode: () => void;
  /** The user toggled the folds. */
  readonly unfold: () => void;
  /** The maximum number of pasted characters. */
  readonly getPasteLimit: () => number;
  readonly rejectPaste: (characters: number) => void;
  /** Any other key. */
  readonly noteKey: () => void;
}

export interface Fold {
  readonly head: string;
  readonly details: readonly string[];
}

/** An answer that is being streamed. */
export interface AnswerView {
  append(markdown: string): void;
  /** Replaces the answer with the whole text, unless it is identical. */
  end(markdown: string): void;
  /** Removes the answer. */
  discard(): void;
}

export interface CommandCompletion {
  readonly name: string;
  readonly about: string;
}

export interface Choice {
  readonly title: string;
  /** The subject of the choice; both its ends are shown where it is longer than the screen. */
  readonly lines: readonly string[];
  readonly options: readonly ChoiceOption[];
  /** What Esc does, in a word; "cancel" by default. */
  readonly cancelLabel?: string;
}

export interface ChoiceOption {
  readonly value: string;
  readonly label: string;
  /** Selects the option directly. */
  readonly key?: string;
  readonly about?: string;
}

export interface OpenQuestion {
  readonly title: string;
  readonly lines: readonly string[];
  /** Shown below the input. */
  readonly hint: string;
}
