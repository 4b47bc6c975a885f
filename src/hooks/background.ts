/** Runs jobs beside the dispatch, at most `limit` at once, the others in the order they came. */
export interface BackgroundPool {
  add(job: () => Promise<void>): void;
  /** Counts something that already runs, and takes nobody's place. */
  track(run: Promise<void>): void;
  /** Settles when nothing is running or waiting. */
  idle(): Promise<void>;
}

export function createBackgroundPool(limit: number): BackgroundPool {
  const waiting: (() => Promise<void>)[] = [];
  const running = new Set<Promise<void>>();
  const tracked = new Set<Promise<void>>();

  function startNext(): void {
    const job = running.size < limit ? waiting.shift() : undefined;
    if (job === undefined) return;
    const run = job().finally(() => {
      running.delete(run);
      startNext();
    });
    running.add(run);
    startNext();
  }

  return {
    add(job) {
      waiting.push(job);
      startNext();
    },
    track(run) {
      const ended = run.finally(() => tracked.delete(ended));
      tracked.add(ended);
    },
    async idle() {
      while (running.size + tracked.size > 0) await Promise.all([...running, ...tracked]);
    },
  };
}
