import type { ShellMachine } from '../../process/shell.ts';

/** What all Claude-format hooks of one session share. */
export interface ClaudeSession {
  /** Where the session was started; it stays when the current directory changes. */
  readonly startDirectory: string;
  readonly home: string | null;
  /** Where environment files, transcripts and long outputs are kept; null without a home directory. */
  readonly stateDirectory: string | null;
  /** Whether a person sits at the terminal. */
  readonly isAttended: boolean;
  /** Whether a hook that may wake the session is waited for, because nothing would wake later. */
  readonly awaitsRewake: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What settings files of the person add to the environment of hooks. */
  readonly settingsEnv: Readonly<Record<string, string>>;
  readonly machine: ShellMachine;
}
