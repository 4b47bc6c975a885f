/** What the process ends with; scripts rely on these numbers. */
export const EXIT = {
  fine: 0,
  /** Refused, or failed as asked. */
  refused: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** A hook failed, or was not trusted, under --strict. */
  hookFailed: 3,
  /** Hookline contradicted itself. */
  bug: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
