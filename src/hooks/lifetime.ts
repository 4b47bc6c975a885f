import { setMaxListeners } from 'node:events';

/**
 * From the creation of an engine to its end: the dispatches under way, the jobs in the background,
 * and the signal that ends both.
 */
export class EngineLifetime {
  readonly #controller = new AbortController();
  /** Aborts when the engine closes. */
  readonly signal: AbortSignal = this.#controller.signal;
  readonly background: BackgroundPool;
  // A caller mostly has one signal for many dispatches, and Node.js 20 never releases joined signals.
  readonly #joined = new WeakMap<AbortSignal, AbortSignal>();
  #underWay = 0;
  #whenOver: (() => void)[] = [];

  constructor(backgroundLimit: number) {
    this.background = new BackgroundPool(backgroundLimit);
    // Many handlers at once listen to one signal, which Node.js 20 would report as a leak.
    setMaxListeners(0, this.signal);
  }

  /** Returns a signal that aborts with the caller's or when the engine closes, whichever is first. */
  joinSignal(callers: AbortSignal | undefined): AbortSignal {
    if (callers === undefined) return this.signal;
    const cachedSignal = this.#joined.get(callers);
    if (cachedSignal !== undefined) return cachedSignal;
    const both = AbortSignal.any([callers, this.signal]);
    setMaxListeners(0, both);
    this.#joined.set(callers, both);
    return both;
  }

  /** A dispatch begins; `endDispatch` must follow. */
  beginDispatch(): void {
    this.#underWay += 1;
  }

  endDispatch(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    for (const goOn of this.#whenOver) goOn();
    this.#whenOver = [];
  }

  /** Aborts, and settles when no dispatch is under way and nothing runs in the background. */
  async close(): Promise<void> {
    this.#controller.abort(new DOMException('the hook engine was closed', 'AbortError'));
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#whenOver.push(resolve));
    await this.background.waitUntilIdle();
  }
}

/** Runs jobs beside the dispatch, at most `limit` at once, the others in order of arrival. */
export class BackgroundPool {
  readonly #limit: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #tracked = new Set<Promise<void>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(job: () => Promise<void>): void {
    this.#waiting.push(job);
    this.#startNext();
  }

  /** Also waits for a promise that already runs, and does not count it. */
  track(run: Promise<void>): void {
    const ended = run.finally(() => this.#tracked.delete(ended));
    this.#tracked.add(ended);
  }

  /** Settles when nothing is running or waiting. */
  async waitUntilIdle(): Promise<void> {
    while (this.#running.size + this.#tracked.size > 0) {
      await Promise.all([...this.#running, ...this.#tracked]);
    }
  }

  #startNext(): void {
    const job = this.#running.size < this.#limit ? this.#waiting.shift() : undefined;
    if (job === undefined) return;
    const run = job().finally(() => {
      this.#running.delete(run);
      this.#startNext();
    });
    this.#running.add(run);
    this.#startNext();
  }
}
