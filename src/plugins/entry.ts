/** A plugin module on disk that has not been imported yet. */
export interface PluginEntry {
  /** The file to import; absolute, its real path. */
  readonly file: string;
  /** The name before the plugin is imported: its package, or the file without its extension. */
  readonly label: string;
  /** The package that lists it; null for a single file. */
  readonly package: PluginPackage | null;
  /** The capabilities that its package declares; null when it declares none. */
  readonly capabilities: readonly string[] | null;
}

export interface PluginPackage {
  /** Absolute, its real path: all files of the plugin are below it. */
  readonly directory: string;
  readonly name: string;
  readonly version: string | null;
  /** A directory with one directory for each skill; null when there is none. */
  readonly skills: string | null;
  /** The package.json was written by an installer: it lists no dependencies, so the plugin gets the host's packages. */
  readonly isBare?: true;
}
