/** One thing that is measured; whatever it returns is ignored. */
export type Task = () => unknown;

export interface Plan {
  readonly samples: number;
  /** How many rounds are not counted; a tenth as many by default. */
  readonly warmUps?: number;
  /** How many calls make one sample; more than one where a single call is too short for the clock. */
  readonly batch: number;
  /** How many of the things whose time is wanted one call does; one when it does not say. */
  readonly per?: number;
  /** Waits, untimed, for what a call leaves to be done after it has answered. */
  readonly settle?: () => Promise<void>;
}

/** Times in milliseconds. */
export interface Summary {
  readonly median: number;
  readonly p95: number;
  /** Interquartile range divided by the median. */
  readonly spread: number;
  readonly samples: number;
}

const WARM_UP_SHARE = 0.1;
const MIN_WARM_UPS = 3;

/**
 * Measures all tasks in turns, so that whatever disturbs the machine disturbs them alike, and each
 * round in another order, so that none always follows the same other.
 */
export async function measureInTurns(tasks: readonly Task[], plan: Plan): Promise<Summary[]> {
  const tenth = Math.max(MIN_WARM_UPS, Math.round(plan.samples * WARM_UP_SHARE));
  const warmUps = plan.warmUps ?? tenth;
  const times: number[][] = tasks.map(() => []);
  for (let round = -warmUps; round < plan.samples; round++) {
    for (const { task, own } of shuffle(tasks.map((task, at) => ({ task, own: times[at] })))) {
      const ms = (await measureBatch(task, plan.batch)) / (plan.per ?? 1);
      if (round >= 0) own?.push(ms);
      await plan.settle?.();
    }
  }
  return times.map(summarise);
}

function shuffle<Item>(items: readonly Item[]): Item[] {
  const keyed = items.map((item) => ({ item, key: Math.random() }));
  return keyed.toSorted((one, other) => one.key - other.key).map(({ item }) => item);
}

async function measureBatch(task: Task, batch: number): Promise<number> {
  const start = performance.now();
  for (let call = 0; call < batch; call++) {
    const result = task();
    if (result instanceof Promise) await result;
  }
  return (performance.now() - start) / batch;
}

function summarise(times: readonly number[]): Summary {
  const sorted = times.toSorted((a, b) => a - b);
  const median = computeQuantile(sorted, 0.5);
  return {
    median,
    p95: computeQuantile(sorted, 0.95),
    spread: (computeQuantile(sorted, 0.75) - computeQuantile(sorted, 0.25)) / median,
    samples: sorted.length,
  };
}

/** `sorted` ascending; between two values their weighted mean. */
export function computeQuantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}
