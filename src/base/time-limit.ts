/** Work that ends when its caller wants it to, or when its time is over. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Whether it was the time that ended it. */
  hasExpired(): boolean;
  /** Must be called when the work is done. */
  clear(): void;
}

/** A longer delay makes setTimeout fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A delay that a timer can keep; what is no number is as long as can be. */
export function clampTimerDelay(ms: number): number {
  return Number.isNaN(ms) ? MAX_TIMER_MS : Math.min(ms, MAX_TIMER_MS);
}

/** With a timer of its own: Node.js 20 may forget an AbortSignal.timeout that only AbortSignal.any knows. */
export function startTimeLimit(caller: AbortSignal, timeoutMs: number): TimeLimit {
  const limit = new AbortController();
  let isOver = false;
  const follow = (): void => limit.abort();
  const timer = setTimeout(() => {
    isOver = !limit.signal.aborted;
    limit.abort();
  }, clampTimerDelay(timeoutMs));
  if (caller.aborted) follow();
  caller.addEventListener('abort', follow);
  return {
    signal: limit.signal,
    hasExpired: () => isOver,
    clear() {
      clearTimeout(timer);
      caller.removeEventListener('abort', follow);
    },
  };
}
