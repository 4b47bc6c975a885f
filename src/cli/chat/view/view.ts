/**
 * What the chat is drawn on. Everything handed to it is free of control characters and secrets
 * already, but for the colours of our own.
 */
export interface ChatView {
  /** Waits until it can be seen for the first time. */
  waitUntilDrawn(): Promise<void>;
  /** Says something below all that was said before; long lines are wrapped. */
  say(text: string): void;
  /** Says something with more behind it, which one key shows. */
  fold(fold: Fold): void;
  /** Begins an answer that comes in pieces of markdown. */
  answer(): AnswerView;
  /** One line about what goes on now; null takes it away. */
  setActivity(text: string | null): void;
  /** What the person said that the agent has not heard yet. */
  setQueued(texts: readonly string[]): void;
  setStatus(text: string): void;
  /** Names after a slash, for completion. */
  setCommands(commands: readonly CommandCompletion[]): void;
  /** Prompts that one key brings back, the last one first. */
  addHistory(prompts: readonly string[]): void;
  /** Asks for one of several; null when the person does not want to. */
  choose(choice: Choice, signal: AbortSignal): Promise<string | null>;
  /** Asks for any number of several; null when the person does not want to. */
  chooseMany(choice: Choice, signal: AbortSignal): Promise<readonly string[] | null>;
  /** Asks for a line; null when the person does not want to. */
  ask(question: OpenQuestion, signal: AbortSignal): Promise<string | null>;
  /** Lets the person change and send again what they had sent; it stands before what they type. */
  restoreDraft(text: string): void;
  /** Nobody is there any more: whatever is asked, now or later, is answered with no. */
  dismissAll(): void;
  /** Takes away all that was said. */
  clear(): void;
  /** Gives the terminal back. Safe to call more than once. */
  close(): Promise<void>;
}

/** What the person does, told to whoever opened the view. */
export interface UserActions {
  readonly submit: (text: string) => void;
  /** Ctrl-C in an empty editor, or in a question. */
  readonly interrupt: () => void;
  readonly escape: () => void;
  /** Ctrl-D in an empty editor, or the terminal has gone. */
  readonly leave: () => void;
  readonly cycleMode: () => void;
  /** The person wants to see what is folded, or no more. */
  readonly unfold: () => void;
  /** How many characters may be pasted at once. */
  readonly getPasteLimit: () => number;
  readonly rejectPaste: (characters: number) => void;
  /** Anything else was typed. */
  readonly resetExit: () => void;
}

export interface Fold {
  readonly head: string;
  readonly details: readonly string[];
}

/** An answer that is being written. */
export interface AnswerView {
  append(markdown: string): void;
  /** Puts the whole text in its place, unless it is what was written. */
  end(markdown: string): void;
  /** Takes it away again. */
  discard(): void;
}

export interface CommandCompletion {
  readonly name: string;
  readonly about: string;
}

export interface Choice {
  readonly title: string;
  /** What it is about; cut to what fits, and all of it when unfolded. */
  readonly lines: readonly string[];
  readonly options: readonly ChoiceOption[];
}

export interface ChoiceOption {
  readonly value: string;
  readonly label: string;
  /** Chooses it at once. */
  readonly key?: string;
  readonly about?: string;
}

export interface OpenQuestion {
  readonly title: string;
  readonly lines: readonly string[];
  /** Below the line, about what may be typed. */
  readonly hint: string;
}
