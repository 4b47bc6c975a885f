/** The only module that reads the time; everything else takes a clock as a parameter. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a monotonic clock, for durations. */
  elapsed(): number;
}

// Destructured once, because it is called before and after every handler.
const { hrtime } = process;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance.now()`: its first use loads a module that takes longer than a short command.
  elapsed: () => {
    const time = hrtime();
    return time[0] * 1000 + time[1] / 1_000_000;
  },
};

/** Formats a time as ISO text. An invalid one becomes empty, so that the line it is in is still written. */
export function formatTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
