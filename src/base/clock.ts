/** The one place where time is read; everything else is handed a clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never jumps, for durations. */
  elapsed(): number;
}

// Looked up once: it is read before and after every handler.
const { hrtime } = process;

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance.now()`: the first use of it loads what takes longer than a short command.
  elapsed: () => {
    const time = hrtime();
    return time[0] * 1000 + time[1] / 1_000_000;
  },
};
