import type { ShellMachine } from '../../process/shell.ts';

/** Shared by all hooks in Claude's format of one session. */
export interface ClaudeSession {
  /** The directory in which the session started; it does not follow the current directory. */
  readonly startDirectory: string;
  readonly home: string | null;
  /** The directory for environment files, transcripts and long outputs; null without a home directory. */
  readonly stateDirectory: string | null;
  /** Whether a user is at the terminal. */
  readonly isAttended: boolean;
  /** Whether asyncRewake hooks are awaited, because the session cannot be woken later. */
  readonly awaitsRewake: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that the user's settings add to the environment of hooks. */
  readonly settingsEnv: Readonly<Record<string, string>>;
  readonly machine: ShellMachine;
}
