import { getErrorMessage } from '../base/errors.ts';
import type { Outcome, Verdict } from './decision.ts';
import type { EventName, HookEvent } from './facts.ts';

/** What the outside learns of one dispatch; subscribers can neither slow nor change the answer. */
export interface DispatchRecord {
  readonly id: string;
  readonly event: HookEvent;
  readonly verdict: Verdict;
  readonly aborted: boolean;
}

/** An answer that came after its dispatch was over. */
export interface LateOutcome {
  readonly dispatchId: string;
  readonly event: HookEvent;
  readonly outcome: Outcome;
}

/** A handler has started or ended; for progress displays. */
export interface HandlerProgress {
  readonly type: 'start' | 'end';
  readonly hook: string;
  readonly event: EventName;
}

/** Tells an observer. What it throws becomes a warning, because it must not change the answer. */
export function tell<News>(observer: ((news: News) => void) | undefined, news: News): void {
  try {
    observer?.(news);
  } catch (error) {
    process.emitWarning(`a subscriber to hook news threw: ${getErrorMessage(error)}`);
  }
}
