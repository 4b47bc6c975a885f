import type { HookPorts } from './ports.ts';

/** Facts about the operating system and this process. */
export interface MachineFacts {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The user's home directory, or null when unknown. */
  readonly home: string | null;
  readonly nodePath: string;
}

/** What a dialect needs to know of this machine, this user and this workspace. */
export interface DialectMachine {
  readonly surroundings: MachineFacts;
  /** Real paths. */
  readonly workspaceRoots: readonly string[];
  /** The real path of the directory in which the session was opened. */
  readonly startDirectory: string;
  /** The directory for state; null without a home directory. */
  readonly stateDirectory: string | null;
  readonly settings: DialectSettings;
  readonly search: DialectSearch;
  /** The module that runs a TypeScript hook where there is no bun. */
  readonly typescriptLoader: string;
}

/** Settings that dialects read. */
export interface DialectSettings {
  readonly 'hooks.timeoutMs': number;
  readonly 'hooks.overrides': Readonly<Record<string, { readonly profile?: 'classic' | 'sdk' }>>;
  readonly 'cline.cancel': 'deny' | 'stop';
  readonly 'cline.maxContextChars': number;
}

/** What a caller names besides the default places. */
export interface DialectSearch {
  /** A further directory of Cline hooks. */
  readonly hooksDirectory?: string;
  /** Directories of Claude plugins, which need not be installed. */
  readonly pluginDirectories?: readonly string[];
  /** Files, packages and directories with Cline plugins, beside those of the user and the workspace. */
  readonly pluginPaths?: readonly string[];
  /** Further settings in Claude's format: a file, or the JSON itself. */
  readonly claudeSettings?: string;
  /** Services of the host for hooks that need more than a process. */
  readonly ports?: HookPorts;
  /** Whether a user can be asked; if not, asyncRewake hooks are awaited. */
  readonly isAttended?: boolean;
}
