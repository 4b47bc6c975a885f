import type { PluginEntry } from '../entry.ts';

/** A plugin module where it was found. */
export interface FoundEntry extends PluginEntry {
  /** The file as it was found, which may be a link to `file`. */
  readonly path: string;
}

/** Somebody meant a plugin here, and it cannot be one. */
export interface PluginProblem {
  /** The file that is to be mended, or the place where nothing is. */
  readonly path: string;
  readonly label: string;
  /** What was expected, what was found, and what to do. */
  readonly message: string;
}

export interface PassedOver {
  readonly path: string;
  readonly why: string;
  /** Set when nobody would wonder about it: a helper, a test, declarations. */
  readonly isQuiet?: true;
  /** Set when a plugin may be there that cannot be seen. */
  readonly mayHidePlugin?: true;
}

/** All plugins of one place; nothing of them has been imported. */
export interface FoundPlugins {
  /** Sorted by path, each file once. */
  readonly entries: readonly FoundEntry[];
  readonly ignored: readonly PassedOver[];
  readonly problems: readonly PluginProblem[];
  /** Directories in there that are no part of a plugin of one file: packages, and modules of others. */
  readonly apart: readonly string[];
}
