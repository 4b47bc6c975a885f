/** Calls back once when the user has pressed no key for some time. */
export class IdleTimer {
  readonly #waitMs: number;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | null = null;

  /** With 0 it never calls back. */
  constructor(waitMs: number, onIdle: () => void) {
    this.#waitMs = waitMs;
    this.#onIdle = onIdle;
  }

  start(): void {
    this.stop();
    if (this.#waitMs === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#onIdle();
    }, this.#waitMs);
  }

  /** Waits the whole time again, if it waits. */
  restart(): void {
    if (this.#timer !== null) this.start();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
