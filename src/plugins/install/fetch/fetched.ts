/** What a source gave, lying in the staging directory. */
export interface Fetched {
  /** The package's directory, or the one file; from the staging directory. */
  readonly path: string;
  readonly isFile: boolean;
  /** What the source itself calls it, where no package.json does. */
  readonly name: string;
  readonly version: string | null;
  readonly commit: string | null;
  readonly integrity: string | null;
  /** Whether npm has installed what it needs already. */
  readonly hasPackages: boolean;
}

/** What came is not known by a number or a hash of its own. */
export const UNMARKED = { version: null, commit: null, integrity: null } as const;

/** Packages lie here, below a package.json that says where their entries are. */
export const PACKAGE = 'package';
