import type { Answer } from './handler.ts';

export type GivenAnswer = Answer | undefined | Promise<Answer | undefined>;

// A longer delay makes setTimeout fire at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs with a signal of its own, which aborts with the outer one and when the time is up. */
export async function runWithinLimit(
  run: (signal: AbortSignal) => GivenAnswer,
  outer: AbortSignal,
  timeoutMs: number,
): Promise<Answer | undefined> {
  const controller = new AbortController();
  const unlink = forwardAbort(outer, controller);
  let timer: NodeJS.Timeout | undefined;
  let late: Promise<Answer> | undefined;
  const timeUp = new Promise<Answer>((resolve) => {
    const giveUp = (): void => {
      const message = `did not answer within ${timeoutMs} ms`;
      // First the answer: what the handler says once it is aborted comes too late.
      resolve({ failure: { kind: 'timeout', message } });
      controller.abort(new DOMException(message, 'TimeoutError'));
    };
    timer = setTimeout(giveUp, Math.min(timeoutMs, MAX_TIMER_MS));
  });
  try {
    const answer = await Promise.race([run(controller.signal), timeUp]);
    late = answer?.late;
    return answer;
  } finally {
    clearTimeout(timer);
    // What goes on in the background still ends with the outer signal.
    if (late === undefined) unlink();
    else void late.then(unlink, unlink);
  }
}

function forwardAbort(outer: AbortSignal, inner: AbortController): () => void {
  const forward = (): void => inner.abort(outer.reason);
  if (outer.aborted) forward();
  else outer.addEventListener('abort', forward, { once: true });
  return () => outer.removeEventListener('abort', forward);
}
