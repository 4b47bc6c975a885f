/** How long a call may take; the time in which it waits for an answer of the person does not count. */
export interface CallLimit {
  readonly signal: AbortSignal;
  isOver(): boolean;
  /** Counts anew from now. */
  restart(): void;
  /** The same work, during which the time stands still. */
  without<Args extends readonly unknown[], Result>(
    work: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result>;
  /** Must be called when the call is done. */
  clear(): void;
}

// A longer delay makes setTimeout fire at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

export function limitCall(caller: AbortSignal, timeoutMs: number): CallLimit {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const follow = (): void => limit.abort(caller.reason);
  const restart = (): void => {
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        isOver = !limit.signal.aborted;
        limit.abort();
      },
      Math.min(timeoutMs, MAX_TIMER_MS),
    );
  };
  restart();
  if (caller.aborted) follow();
  caller.addEventListener('abort', follow);
  return {
    signal: limit.signal,
    isOver: () => isOver,
    restart,
    without:
      (work) =>
      async (...args) => {
        clearTimeout(timer);
        try {
          return await work(...args);
        } finally {
          restart();
        }
      },
    clear() {
      clearTimeout(timer);
      caller.removeEventListener('abort', follow);
    },
  };
}
