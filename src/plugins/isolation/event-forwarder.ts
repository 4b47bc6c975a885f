import { HooklineError } from '../../base/errors.ts';
import { clampTimerDelay } from '../../base/abort.ts';
import type { ContextSerializer } from './serialize-context.ts';
import type { ContextForm, ToChild } from './wire/protocol.ts';

/** How many events wait here at most while the process does not read. */
const MAX_WAITING = 1000;
/** How many parcels it may have that it has not handed on. */
const MAX_PARCELS = 4;

export interface ForwarderOptions {
  readonly serializer: ContextSerializer;
  readonly send: (message: ToChild) => void;
  /** How long a listener may keep its process from reading on. */
  readonly timeoutMs: number;
  /** Nothing was read for that long. */
  readonly onStuck: () => void;
  /** Once, when it reads again or has ended. */
  readonly onLeftOut: (count: number) => void;
}

/** What happens in a session, told to a listener in another process; nobody waits for it. */
export class EventForwarder {
  readonly #options: ForwarderOptions;
  readonly #failures = new LateFailures();
  #waiting: ContextForm[] = [];
  #parcels = 0;
  #leftOut = 0;
  #hasReportedLeftOut = false;
  #isScheduled = false;
  #isClosed = false;
  #stuck: NodeJS.Timeout | null = null;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** The promise, if there is one, rejects when the listener failed there. */
  forward(event: object): Promise<void> | undefined {
    if (this.#isClosed) return this.#failures.next();
    if (this.#waiting.length >= MAX_WAITING) this.#leftOut += 1;
    else {
      this.#waiting.push(this.#options.serializer.serializeEvent(event));
      this.#schedule();
    }
    return this.#failures.next();
  }

  /** Sends what waits, so that what is sent next comes after it. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    const news = this.#waiting;
    this.#waiting = [];
    this.#parcels += 1;
    if (this.#stuck === null) this.#watch();
    this.#options.send({ kind: 'news', news });
  }

  /** A parcel was handed on. */
  confirm(): void {
    this.#parcels = Math.max(0, this.#parcels - 1);
    this.#watch();
    if (this.#waiting.length < MAX_WAITING) this.#reportLeftOut();
    this.#schedule();
  }

  fail(error: unknown): void {
    this.#failures.add(error);
  }

  /** The process is gone: why, or null when that was wanted, and nobody is to be told. */
  close(why: string | null): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#parcels = 0;
    this.#watch();
    this.#reportLeftOut();
    if (why !== null) this.#failures.close(why);
  }

  /** Pieces of text come one after the other: those of one moment go together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#parcels < MAX_PARCELS) this.flush();
    });
  }

  #watch(): void {
    if (this.#stuck !== null) clearTimeout(this.#stuck);
    const look = (): void => {
      this.#options.onStuck();
      this.#watch();
    };
    const delay = clampTimerDelay(this.#options.timeoutMs);
    this.#stuck = this.#parcels === 0 ? null : setTimeout(look, delay).unref();
  }

  #reportLeftOut(): void {
    if (this.#leftOut === 0 || this.#hasReportedLeftOut) return;
    this.#hasReportedLeftOut = true;
    this.#options.onLeftOut(this.#leftOut);
  }
}

/** Failures that come later than the call that they belong to; each is heard of once. */
class LateFailures {
  readonly #unreported: unknown[] = [];
  #reject: ((error: unknown) => void) | null = null;
  #closed: HooklineError | null = null;

  /** Of all calls, one at a time waits for a failure. */
  next(): Promise<void> | undefined {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    if (this.#reject !== null) return undefined;
    const failing = new Promise<void>((_resolve, reject) => {
      this.#reject = reject;
    });
    // Whoever called may not wait for it.
    failing.catch(() => undefined);
    this.#give();
    return failing;
  }

  add(error: unknown): void {
    this.#unreported.push(error);
    this.#give();
  }

  close(message: string): void {
    this.#closed = new HooklineError('PLUGIN_ENDED', { message });
    this.add(this.#closed);
  }

  #give(): void {
    if (this.#reject === null || this.#unreported.length === 0) return;
    this.#reject(this.#unreported.shift());
    this.#reject = null;
  }
}
