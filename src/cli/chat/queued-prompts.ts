import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { shown } from './telling/shown-text.ts';
import type { ChatView } from './view/view.ts';

/** What was said to the agent while it works, and what it has not heard yet. */
export class QueuedPrompts {
  readonly #view: ChatView;
  #texts: string[] = [];

  constructor(view: ChatView) {
    this.#view = view;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#view.setQueued(this.#texts.map((each) => shown(each).split('\n')[0] ?? ''));
  }

  /** All of them, which nobody waits for any more. */
  take(): readonly string[] {
    const taken = this.#texts;
    this.#texts = [];
    if (taken.length > 0) this.#view.setQueued([]);
    return taken;
  }

  /** What a run ended too early for is not lost while it is queued here: it becomes the next prompt. */
  isAbout(event: RuntimeEvent): boolean {
    return event.type === 'notice' && this.#texts.some((text) => event.text.endsWith(text));
  }
}
