import type { Clock } from '../../../base/clock.ts';

const PAUSE_MS = 500;

/** Drops keys that were typed for the editor before a panel opened: until typing has paused. */
export class TypeaheadGuard {
  readonly #clock: Clock;
  /** When the last such key arrived; null when none is expected. */
  #lastAt: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A panel replaced an editor with this text. */
  start(draft: string): void {
    this.#lastAt = draft === '' ? null : this.#clock.elapsed();
  }

  /** Must be called once per key. */
  isTypeahead(): boolean {
    if (this.#lastAt === null) return false;
    const now = this.#clock.elapsed();
    const hasPaused = now - this.#lastAt >= PAUSE_MS;
    this.#lastAt = hasPaused ? null : now;
    return !hasPaused;
  }
}
