/** A plugin module on disk, of which nothing has been imported yet. */
export interface PluginEntry {
  /** The file that is imported; absolute, its real path. */
  readonly file: string;
  /** What people call it before it can say its own name: its package, or the file without its ending. */
  readonly label: string;
  /** The package that lists it; null for a file by itself. */
  readonly package: PluginPackage | null;
  /** What its package says that it will contribute; null when it says nothing. */
  readonly capabilities: readonly string[] | null;
}

export interface PluginPackage {
  /** Absolute, its real path: everything of the plugin lies below it. */
  readonly directory: string;
  readonly name: string;
  readonly version: string | null;
  /** A directory with one directory for each skill; null when it brings none. */
  readonly skills: string | null;
  /** Only an installer wrote a package.json: it cannot say which packages it needs, and gets the host's. */
  readonly isBare?: true;
}
