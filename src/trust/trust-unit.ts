/** What must stay unchanged for a trust decision to hold. */
export interface Binds {
  /** Absolute path, as found by discovery; may be a link. */
  readonly entry: string;
  /** The text of a config entry. It is bound instead of the bytes of the config file. */
  readonly text?: string;
  /** Further files that the entry names, as absolute paths; they may be missing. */
  readonly files: readonly string[];
  /** Directories whose files are all bound, at any depth. */
  readonly directories: readonly string[];
  /** Directories in these that belong to other units: only their existence is bound; real paths. */
  readonly apart?: readonly string[];
  /** Set for a package, in which directories named `state` and `cache` contain code. */
  readonly isPackage?: true;
  /** How it is started; absent for what is not a program of its own. */
  readonly starts?: Starts;
}

/** What decides which programs and files a command line means. */
export interface Starts {
  /** Programs that the host itself starts the entry with, as names or paths. */
  readonly programs: readonly string[];
  /** Directories that relative paths start from. */
  readonly directories: readonly string[];
  /** The directories of the PATH that it runs with, absolute. */
  readonly searchPath: readonly string[];
}

/** The unit of a trust decision: an entry and every file that it is known to run. */
export interface TrustUnit extends Binds {
  /** Such as `cline:workspace:PreToolUse`. */
  readonly id: string;
  /** The workspace root: nothing is trusted beyond it. */
  readonly root: string;
}
