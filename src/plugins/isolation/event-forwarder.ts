import { HooklineError } from '../../base/errors.ts';
import { clampTimerDelay } from '../../base/abort.ts';
import type { ContextSerializer } from './serialize-context.ts';
import type { ContextForm, ToChild } from './wire/protocol.ts';

/** The largest number of events that wait in this queue while the process does not read. */
const MAX_WAITING = 1000;
/** The largest number of batches that the process has not confirmed. */
const MAX_BATCHES = 4;

export interface ForwarderOptions {
  readonly serializer: ContextSerializer;
  readonly send: (message: ToChild) => void;
  /** How long a listener may block its process. */
  readonly timeoutMs: number;
  /** Called when the process confirmed nothing for `timeoutMs`. */
  readonly onStuck: () => void;
  /** Called once, with the number of dropped events, when the process reads again or has exited. */
  readonly onDropped: (count: number) => void;
}

/** Sends the events of a session to a listener in another process, without waiting for the listener. */
export class EventForwarder {
  readonly #options: ForwarderOptions;
  readonly #failures = new LateFailures();
  #waiting: ContextForm[] = [];
  #pendingBatches = 0;
  #droppedCount = 0;
  #hasReportedDropped = false;
  #isScheduled = false;
  #isClosed = false;
  #stuck: NodeJS.Timeout | null = null;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** The promise, if there is one, rejects when the listener failed. */
  forward(event: object): Promise<void> | undefined {
    if (this.#isClosed) return this.#failures.waitForNext();
    if (this.#waiting.length >= MAX_WAITING) this.#droppedCount += 1;
    else {
      this.#waiting.push(this.#options.serializer.serializeEvent(event));
      this.#schedule();
    }
    return this.#failures.waitForNext();
  }

  /** Sends the queued events now, so that the next message comes after them. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    const events = this.#waiting;
    this.#waiting = [];
    this.#pendingBatches += 1;
    if (this.#stuck === null) this.#watch();
    this.#options.send({ kind: 'events', events });
  }

  /** The process has delivered one batch. */
  confirm(): void {
    this.#pendingBatches = Math.max(0, this.#pendingBatches - 1);
    this.#watch();
    if (this.#waiting.length < MAX_WAITING) this.#reportDropped();
    this.#schedule();
  }

  fail(error: unknown): void {
    this.#failures.add(error);
  }

  /** The process has exited. `why` is the reason to report; null when the exit was expected. */
  close(why: string | null): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#pendingBatches = 0;
    this.#watch();
    this.#reportDropped();
    if (why !== null) this.#failures.close(why);
  }

  /** Text deltas come in quick succession, so those of one tick are sent as one batch. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#pendingBatches < MAX_BATCHES) this.flush();
    });
  }

  #watch(): void {
    if (this.#stuck !== null) clearTimeout(this.#stuck);
    const handleStuck = (): void => {
      this.#options.onStuck();
      this.#watch();
    };
    const delay = clampTimerDelay(this.#options.timeoutMs);
    this.#stuck = this.#pendingBatches === 0 ? null : setTimeout(handleStuck, delay).unref();
  }

  #reportDropped(): void {
    if (this.#droppedCount === 0 || this.#hasReportedDropped) return;
    this.#hasReportedDropped = true;
    this.#options.onDropped(this.#droppedCount);
  }
}

/** Failures that arrive later than the call that caused them; each is reported once. */
class LateFailures {
  readonly #unreported: unknown[] = [];
  #reject: ((error: unknown) => void) | null = null;
  #closed: HooklineError | null = null;

  /** Only one call at a time waits for a failure. */
  waitForNext(): Promise<void> | undefined {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    if (this.#reject !== null) return undefined;
    const failing = new Promise<void>((_resolve, reject) => {
      this.#reject = reject;
    });
    // The caller may ignore the promise.
    failing.catch(() => undefined);
    this.#rejectWaiting();
    return failing;
  }

  add(error: unknown): void {
    this.#unreported.push(error);
    this.#rejectWaiting();
  }

  close(message: string): void {
    this.#closed = new HooklineError('PLUGIN_ENDED', { message });
    this.add(this.#closed);
  }

  #rejectWaiting(): void {
    if (this.#reject === null || this.#unreported.length === 0) return;
    this.#reject(this.#unreported.shift());
    this.#reject = null;
  }
}
