import { removeAbortListener, addAbortListener } from '../base/abort.ts';
import type { HandlerRun } from './plan.ts';
import { createKilledOutcome } from './run-handler.ts';

// A program gets SIGTERM, then SIGKILL 1.5 s later; waiting for both keeps a killed tree from being orphaned.
const GRACE_AFTER_ABORT_MS = 4000;

/**
 * Waits until every run has its outcome. After an abort it waits a little longer; runs that have no
 * outcome then are given up as killed.
 */
export async function waitForHandlers(
  runs: readonly HandlerRun[],
  pending: readonly Promise<void>[],
  signal: AbortSignal,
): Promise<void> {
  const grace = startGrace(signal);
  try {
    await Promise.race([Promise.all(pending), grace.over]);
  } finally {
    grace.end();
  }
  for (const run of runs) {
    run.outcome ??= createKilledOutcome(run, 'did not end after the dispatch was aborted');
  }
}

/** The time that handlers have left once the signal aborts. */
function startGrace(signal: AbortSignal): { over: Promise<void>; end: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let wait = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    wait = () => {
      timer = setTimeout(resolve, GRACE_AFTER_ABORT_MS);
    };
  });
  if (signal.aborted) wait();
  else addAbortListener(signal, wait);
  return {
    over,
    end() {
      clearTimeout(timer);
      removeAbortListener(signal, wait);
    },
  };
}
