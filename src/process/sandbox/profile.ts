/** The two named profiles: `read-only` has no writable place but the temporary directory, and no network. */
export type SandboxProfileName = 'workspace' | 'read-only';

/** What a program in the sandbox may reach. Plain data; every path is absolute and real. */
export interface SandboxProfile {
  readonly name: SandboxProfileName;
  /** Directories and files that may be changed; absent ones are left out. */
  readonly writable: readonly string[];
  /** Places below writable ones that may not be changed, created, replaced or moved away. */
  readonly protected: readonly ProtectedPlace[];
  /** Files and directories that fail with EACCES; absent ones are left out. */
  readonly hidden: readonly string[];
  /**
   * Sockets of other programs, and directories for them, which are hidden, too. They come and go: one
   * that goes away while the sandbox is made is left out, and the sandbox made again.
   */
  readonly sockets: readonly string[];
  /** Directories that look empty, because what they hold is of the running system: sockets. */
  readonly emptied: readonly string[];
  /** Exceptions from `emptied` that can be read. */
  readonly readable: readonly string[];
  /** `{ socket }` is a network whose only way out is the proxy that listens there. */
  readonly network: 'on' | 'off' | { readonly socket: string };
  /** The only writable place of every profile; programs find it as TMPDIR. */
  readonly temporaryDirectory: string;
  /** A directory that is seen in place of a path, which is not changed then. */
  readonly overlay: { readonly path: string; readonly directory: string } | null;
  /** Variables that name what is hidden, and so are removed. */
  readonly removedVariables: readonly string[];
  readonly addedVariables: Readonly<Record<string, string>>;
}

export interface ProtectedPlace {
  readonly path: string;
  /**
   * What stands in its place while it is absent: an empty directory, which git does not see, or a file
   * with this text where a program insists on reading one.
   */
  readonly absentText?: string;
}
