import { callObserver } from '../base/callbacks.ts';
import type { Outcome, Verdict } from './decision.ts';
import type { EventName, HookEvent } from './facts.ts';
import type { Exchange, Handler } from './handler.ts';

/** An exchange with the run that it belongs to: the outcome of the same hook, pass, part and vocabulary. */
export interface RecordedExchange
  extends Exchange, Pick<Outcome, 'hook' | 'pass' | 'part' | 'vocabulary'> {}

/** One dispatch for subscribers: the event with its workspace, the handlers and the verdict. */
export interface DispatchRecord {
  readonly id: string;
  readonly event: HookEvent;
  /** With the outcome and decision of every handler that ran, and why others did not. */
  readonly verdict: Verdict;
  readonly aborted: boolean;
  /** Empty unless a subscriber wants exchanges. */
  readonly exchanges: readonly RecordedExchange[];
}

/** An answer that came after its dispatch was over. */
export interface LateOutcome {
  readonly dispatchId: string;
  readonly event: HookEvent;
  readonly outcome: Outcome;
  /** Empty unless a subscriber wants exchanges. */
  readonly exchanges: readonly RecordedExchange[];
}

/** A handler has started or ended; for progress displays. */
export interface HandlerProgress {
  readonly type: 'start' | 'end';
  readonly hook: string;
  readonly event: EventName;
}

/** Gets notified of dispatches. It can neither delay nor change them: what it throws becomes a warning. */
export interface DispatchSubscriber {
  /** Whether it needs the input and output of hooks, which are not recorded otherwise. */
  readonly wantsExchanges?: boolean;
  readonly onDispatch?: ((record: DispatchRecord) => void) | undefined;
  readonly onLate?: ((late: LateOutcome) => void) | undefined;
  readonly onProgress?: ((progress: HandlerProgress) => void) | undefined;
}

/** Who threw, for warnings. */
const SUBSCRIBER = 'a subscriber to hook events';

/** Any number of subscribers to the dispatches of one engine, or of several that share it. */
export class DispatchSubscribers {
  #subscribers: readonly DispatchSubscriber[] = [];
  #wantsRecords = false;
  #wantsExchanges = false;

  /** Returns a function that unsubscribes. */
  subscribe(subscriber: DispatchSubscriber): () => void {
    this.#use([...this.#subscribers, subscriber]);
    return () => this.#use(this.#subscribers.filter((other) => other !== subscriber));
  }

  /** Whether a subscriber needs the record of a dispatch; it is not created otherwise. */
  get wantsRecords(): boolean {
    return this.#wantsRecords;
  }

  get wantsExchanges(): boolean {
    return this.#wantsExchanges;
  }

  notifyDispatch(record: DispatchRecord): void {
    for (const { onDispatch } of this.#subscribers) callObserver(SUBSCRIBER, onDispatch, record);
  }

  notifyLate(late: LateOutcome): void {
    for (const { onLate } of this.#subscribers) callObserver(SUBSCRIBER, onLate, late);
  }

  notifyProgress(type: HandlerProgress['type'], { id: hook, event }: Handler): void {
    for (const { onProgress } of this.#subscribers) {
      if (onProgress !== undefined) callObserver(SUBSCRIBER, onProgress, { type, hook, event });
    }
  }

  #use(subscribers: readonly DispatchSubscriber[]): void {
    this.#subscribers = subscribers;
    this.#wantsRecords = subscribers.some(({ onDispatch }) => onDispatch !== undefined);
    this.#wantsExchanges = subscribers.some(({ wantsExchanges }) => wantsExchanges === true);
  }
}
