export interface ShellCommand {
  /** Its name and arguments as written, without assignments, redirections and extra blanks. */
  readonly text: string;
  /** The same with quotes and backslashes taken away. */
  readonly unquoted: string;
  /** Its words before the first that is not fixed, if the shell may turn one into others; else null. */
  readonly fixedStart: string | null;
  /** Its name and arguments without quotes; null if any of them is not known before it runs. */
  readonly words: readonly string[] | null;
  /** Whether a `VAR=x` stands before it. */
  readonly hasAssignment: boolean;
}

/** Every simple command of a command line, however deep, and how far that can be relied on. */
export interface ParsedShellLine {
  readonly commands: readonly ShellCommand[];
  /** What those of them that are `exec`, `command` or `builtin` run. */
  readonly inner: readonly ShellCommand[];
  /** Whether a variable or a substitution may become other arguments. */
  readonly hasExpansion: boolean;
  /** Whether it may run any command at all, or could not be read. */
  readonly isOpen: boolean;
  /** Whether it writes to a file. */
  readonly writesFile: boolean;
  /** Whether a command is given a file to read that is not among its arguments. */
  readonly readsFile: boolean;
  /** Whether a quote or the like is left open. */
  readonly isUnfinished: boolean;
  /** Whether it holds more than commands in a row: what sets variables, repeats or defines something. */
  readonly isProgram: boolean;
}
