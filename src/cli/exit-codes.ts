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

/** The exit codes of `cline-hook --enable`, `--disable` and `--status`, as the package had them that had these commands. */
export const FORMER_EXIT = {
  fine: 0,
  failed: 1,
  /** No such agent. */
  unsupported: 2,
  /** A settings file cannot be parsed. */
  config: 3,
  /** A settings file cannot be written. */
  denied: 4,
  /** The agent is not installed. */
  missing: 5,
} as const;

export type ExitCode =
  | (typeof EXIT)[keyof typeof EXIT]
  | (typeof FORMER_EXIT)[keyof typeof FORMER_EXIT];
