import type { HomeAndRoots } from '../../place.ts';

/** The places that may contain configuration in Claude's format. */
export interface ClaudePlaces extends HomeAndRoots {
  /** Claude's settings are read from this directory only, never from a parent. */
  readonly startDirectory: string;
  /** `~/.claude`, unless the environment moves it; null when the machine does not say. */
  readonly claudeDirectory: string | null;
  /** `~/.cline`, unless the environment moves it. */
  readonly clineDirectory: string | null;
  /** The administrator's directory, such as `/etc/claude-code`. */
  readonly managedDirectory: string | null;
  /** Plugins that the caller named. */
  readonly pluginDirectories: readonly string[];
  /** A file of settings that the caller named, or the settings themselves as JSON. */
  readonly flagSettings: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}
