/** Aborts work when its caller aborts, or when its time is over. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Whether the timeout was what aborted the signal. */
  hasExpired(): boolean;
  /** Must be called when the work is done. */
  clear(): void;
}

/** A longer delay makes setTimeout fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A delay that setTimeout accepts; NaN becomes the longest one. */
export function clampTimerDelay(ms: number): number {
  return Number.isNaN(ms) ? MAX_TIMER_MS : Math.min(ms, MAX_TIMER_MS);
}

/** Uses a timer of its own: Node.js 20 may collect an AbortSignal.timeout that only AbortSignal.any refers to. */
export function startTimeLimit(caller: AbortSignal, timeoutMs: number): TimeLimit {
  const limit = new AbortController();
  let hasExpired = false;
  const follow = (): void => limit.abort();
  const timer = setTimeout(() => {
    hasExpired = !limit.signal.aborted;
    limit.abort();
  }, clampTimerDelay(timeoutMs));
  if (caller.aborted) follow();
  caller.addEventListener('abort', follow);
  return {
    signal: limit.signal,
    hasExpired: () => hasExpired,
    clear() {
      clearTimeout(timer);
      caller.removeEventListener('abort', follow);
    },
  };
}
