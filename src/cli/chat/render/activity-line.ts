import type { HandlerProgress } from '../../../hooks/dispatch-record.ts';
import { toOneLine } from '../../output/print.ts';

const SLOW_AFTER_MS = 1000;

/** The line about the current activity: what the agent does, or the slow hooks it waits for. */
export class ActivityLine {
  readonly #show: (text: string | null) => void;
  readonly #running = new Map<string, NodeJS.Timeout>();
  readonly #slow = new Set<string>();
  #activity: string | null = null;
  #isEnded = false;

  constructor(show: (text: string | null) => void) {
    this.#show = show;
  }

  set(text: string | null): void {
    if (this.#isEnded) return;
    this.#activity = text;
    this.#draw();
  }

  observe({ type, hook }: HandlerProgress): void {
    if (this.#isEnded) return;
    clearTimeout(this.#running.get(hook));
    this.#running.delete(hook);
    if (type === 'end') {
      if (this.#slow.delete(hook)) this.#draw();
      return;
    }
    const showSlow = (): void => {
      this.#slow.add(hook);
      this.#draw();
    };
    this.#running.set(hook, setTimeout(showSlow, SLOW_AFTER_MS));
  }

  /** Stops updates, also for hooks that end later. */
  end(): void {
    this.#isEnded = true;
    for (const timer of this.#running.values()) clearTimeout(timer);
    this.#running.clear();
  }

  #draw(): void {
    const names = [...this.#slow].map(toOneLine).join(', ');
    this.#show(names === '' ? this.#activity : `waiting for ${names} …`);
  }
}
