/** Exit codes of the process; scripts rely on these numbers. */
export const EXIT = {
  fine: 0,
  /** Refused, or failed. */
  refused: 1,
  /** The command line or the configuration is invalid. */
  usage: 2,
  /** A hook failed, was not trusted or does not count as it is written, under --strict. */
  hookFailed: 3,
  /** A bug in Hookline. */
  bug: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
