import type { Clock } from '../../../base/clock.ts';

const PAUSE_MS = 500;

/**
 * Tells keys that are still meant for the editor from those that answer a panel which opened while
 * somebody typed: they are, until the typing has paused.
 */
export class TypeaheadGuard {
  readonly #clock: Clock;
  /** When the last of them came; null when there are none to be expected. */
  #lastAt: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A panel has taken the place of an editor with this text. */
  start(draft: string): void {
    this.#lastAt = draft === '' ? null : this.#clock.elapsed();
  }

  /** Asked once for each key. */
  isTypeahead(): boolean {
    if (this.#lastAt === null) return false;
    const now = this.#clock.elapsed();
    const hasPaused = now - this.#lastAt >= PAUSE_MS;
    this.#lastAt = hasPaused ? null : now;
    return !hasPaused;
  }
}
