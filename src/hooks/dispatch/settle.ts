import { removeAbortListener, addAbortListener } from '../../base/abort.ts';
import { type HandlerRun, isPromise, killedRun, type Ran } from './run-handler.ts';

export interface Started {
  readonly run: HandlerRun;
  readonly result: Ran | Promise<Ran>;
}

// A program gets SIGTERM, then SIGKILL 1.5 s later; waiting for both keeps a killed tree from being orphaned.
const PATIENCE_AFTER_ABORT_MS = 4000;

/** Waits for all. After an abort it waits a little longer, then reports the rest as killed. */
export function settleAll(
  started: readonly Started[],
  signal: AbortSignal,
): readonly Ran[] | Promise<readonly Ran[]> {
  const results = started.map(({ result }) => result);
  if (!results.some(isPromise)) return results.filter(isSettled);
  return settleUntilAborted(started, signal);
}

async function settleUntilAborted(
  started: readonly Started[],
  signal: AbortSignal,
): Promise<readonly Ran[]> {
  const settled = new Map<Started, Ran>();
  const patience = createPatience(signal);
  const givenUp = patience.over.then(() =>
    started.map(
      (one) => settled.get(one) ?? killedRun(one.run, 'did not end after the dispatch was aborted'),
    ),
  );
  const all = started.map(async (one) => {
    const ran = await one.result;
    settled.set(one, ran);
    return ran;
  });
  try {
    return await Promise.race([Promise.all(all), givenUp]);
  } finally {
    patience.end();
  }
}

function createPatience(signal: AbortSignal): { over: Promise<void>; end: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let wait = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    wait = () => {
      timer = setTimeout(resolve, PATIENCE_AFTER_ABORT_MS);
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

function isSettled(ran: Ran | Promise<Ran>): ran is Ran {
  return !isPromise(ran);
}
