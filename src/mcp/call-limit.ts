import { clampTimerDelay } from '../base/time-limit.ts';

/** How long a call may take; the time in which it waits for an answer of the person does not count. */
export interface CallLimit {
  readonly signal: AbortSignal;
  hasExpired(): boolean;
  /** Counts anew from now. */
  restart(): void;
  /** From now on the time stands still, until what this gives is called. */
  pause(): () => void;
  /** Ends the call with this as its reason. */
  fail(reason: Error): void;
  /** Must be called when the call is done. */
  clear(): void;
}

export function startCallLimit(caller: AbortSignal, timeoutMs: number): CallLimit {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let isDone = false;
  let pauses = 0;
  const follow = (): void => limit.abort(caller.reason);
  const restart = (): void => {
    clearTimeout(timer);
    // An answer of the person may come long after the call that it was for.
    if (isDone || pauses > 0) return;
    timer = setTimeout(() => {
      isOver = !limit.signal.aborted;
      limit.abort();
    }, clampTimerDelay(timeoutMs));
  };
  restart();
  if (caller.aborted) follow();
  caller.addEventListener('abort', follow);
  return {
    signal: limit.signal,
    hasExpired: () => isOver,
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
      caller.removeEventListener('abort', follow);
    },
  };
}
