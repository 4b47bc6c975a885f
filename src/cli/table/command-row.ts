import type { Command } from '../context.ts';

/** A flag in commander's words, and what it is for. `choices` limits its values. */
export interface Flag {
  readonly flag: string;
  readonly about: string;
  readonly choices?: readonly string[];
  readonly isRepeatable?: boolean;
}

export interface CommandRow {
  /** Words and arguments: `hooks fire [event]`. An argument's name is the option that the command gets. */
  readonly usage: string;
  /** Other words for the last one. */
  readonly aliases?: readonly string[];
  readonly about: string;
  readonly flags: readonly Flag[];
  /** Loads the command's code, which happens only when it is used. */
  readonly load: () => Promise<Command<object>>;
}

// A row's usage and flags are what gives the command exactly the options that it asks for.
export function typed<Options extends object>(command: Command<Options>): Command<object> {
  return command as Command<object>;
}
