import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { toForeignScreenText } from './render/format-text.ts';
import type { ChatView } from './view/view.ts';

interface QueuedPrompt {
  readonly text: string;
  /** The agent was told, and hears it before its next request; if its run ends earlier, it does not. */
  isSteered: boolean;
}

/** What the person said that the agent has not heard yet. */
export class QueuedPrompts {
  readonly #view: ChatView;
  #queued: QueuedPrompt[] = [];
  /** What the session will say about words that are not queued here any more. */
  readonly #settled: string[] = [];

  constructor(view: ChatView) {
    this.#view = view;
  }

  /** For later. */
  add(text: string): void {
    this.#queued.push({ text, isSteered: false });
    this.#show();
  }

  addFirst(text: string): void {
    this.#queued.unshift({ text, isSteered: false });
    this.#show();
  }

  /** The agent that works was told. */
  addSteered(text: string): void {
    this.#queued.push({ text, isSteered: true });
    this.#show();
  }

  /** Whether something waits for the end of the run. */
  get hasWaiting(): boolean {
    return this.#queued.some(({ isSteered: isTold }) => !isTold);
  }

  /** Those that the agent hears now. */
  takeSteered(): readonly string[] {
    return this.#take(({ isSteered: isTold }) => isTold).map(({ text }) => text);
  }

  /** The first one, as a prompt of its own. */
  takeNext(): string | null {
    const [first] = this.#queued;
    return this.#takeUnheard((each) => each === first)[0] ?? null;
  }

  takeAll(): readonly string[] {
    return this.#takeUnheard(() => true);
  }

  /** What a run ended too early for is not lost: it is queued here, or was taken. */
  absorbNotice(event: RuntimeEvent): boolean {
    if (event.type !== 'notice') return false;
    const at = this.#settled.indexOf(event.text);
    if (at !== -1) return this.#settled.splice(at, 1).length > 0;
    const queued = this.#queued.find(
      ({ text, isSteered: isTold }) => isTold && event.text === formatUnheardNotice(text),
    );
    if (queued !== undefined) queued.isSteered = false;
    return queued !== undefined;
  }

  #takeUnheard(isWanted: (each: QueuedPrompt) => boolean): readonly string[] {
    const taken = this.#take(isWanted);
    this.#settled.push(
      ...taken
        .filter(({ isSteered: isTold }) => isTold)
        .map(({ text }) => formatUnheardNotice(text)),
    );
    return taken.map(({ text }) => text);
  }

  #take(isWanted: (each: QueuedPrompt) => boolean): readonly QueuedPrompt[] {
    const taken = this.#queued.filter(isWanted);
    this.#queued = this.#queued.filter((each) => !taken.includes(each));
    if (taken.length > 0) this.#show();
    return taken;
  }

  #show(): void {
    this.#view.setQueued(
      this.#queued.map(({ text }) => toForeignScreenText(text).split('\n')[0] ?? ''),
    );
  }
}

/** As the session says it. */
function formatUnheardNotice(text: string): string {
  return `the run ended before the agent could be told: ${text}`;
}
