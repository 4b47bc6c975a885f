import { setTimeout as sleep } from 'node:timers/promises';

/** Events that nobody waits for. They are ended with the session at the latest. */
export interface Asides {
  readonly signal: AbortSignal;
  readonly add: (work: Promise<unknown>) => void;
  /** Lets what still runs come to its end for a moment, and then ends it. */
  close(): Promise<void>;
}

/** Hooks of short runs must be able to do their work, too. */
const GRACE_MS = 1500;

export function createAsides(): Asides {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    signal: closing.signal,
    add(work) {
      const settled = work.finally(() => running.delete(settled));
      running.add(settled);
    },
    async close() {
      const done = Promise.allSettled(running);
      await Promise.race([done, sleep(GRACE_MS, undefined, { ref: false })]);
      closing.abort();
      await done;
    },
  };
}
