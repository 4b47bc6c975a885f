import { clampTimerDelay } from '../base/time-limit.ts';

/** The time limit of a call, which is paused while the call waits for the user. */
export interface CallLimit {
  readonly signal: AbortSignal;
  hasExpired(): boolean;
  /** Starts the time again. */
  restart(): void;
  /** Stops the time until the returned function is called. */
  pause(): () => void;
  /** Aborts the call for this reason. */
  fail(reason: Error): void;
  /** Must be called when the call is done. */
  clear(): void;
}

export function startCallLimit(caller: AbortSignal, timeoutMs: number): CallLimit {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let hasExpired = false;
  let isDone = false;
  let pauses = 0;
  const abortWithCaller = (): void => limit.abort(caller.reason);
  const restart = (): void => {
    clearTimeout(timer);
    // The user may answer long after the call has ended.
    if (isDone || pauses > 0) return;
    timer = setTimeout(() => {
      hasExpired = !limit.signal.aborted;
      limit.abort();
    }, clampTimerDelay(timeoutMs));
  };
  restart();
  if (caller.aborted) abortWithCaller();
  caller.addEventListener('abort', abortWithCaller);
  return {
    signal: limit.signal,
    hasExpired: () => hasExpired,
    restart,
    pause() {
      pauses += 1;
      clearTimeout(timer);
      return () => {
        pauses -= 1;
        restart();
      };
    },
    fail: (reason) => limit.abort(reason),
    clear() {
      isDone = true;
      clearTimeout(timer);
      caller.removeEventListener('abort', abortWithCaller);
    },
  };
}
