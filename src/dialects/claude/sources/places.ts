import type { HomeAndRoots } from '../../place.ts';

/** Where configuration in Claude Code's format may lie. */
export interface ClaudePlaces extends HomeAndRoots {
  /** Claude's own settings are read from here only, never from a directory above. */
  readonly startDirectory: string;
  /** `~/.claude`, unless the environment moves it; null when the machine does not say. */
  readonly claudeDirectory: string | null;
  /** `~/.cline`, unless the environment moves it. */
  readonly clineDirectory: string | null;
  /** What the machine's administrator rules, such as `/etc/claude-code`. */
  readonly managedDirectory: string | null;
  /** Plugins that the caller named. */
  readonly pluginDirectories: readonly string[];
  /** A file of settings that the caller named, or the settings themselves as JSON. */
  readonly flagSettings: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}
