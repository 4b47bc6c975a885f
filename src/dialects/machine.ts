import path from 'node:path';
import type { NamedPaths } from './options.ts';
import type { HookPorts } from './ports.ts';

/** Facts about the operating system and this process. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The user's home directory, or null when unknown. */
  readonly home: string | null;
  readonly nodePath: string;
}

/** Finds an agent's directory in the home directory, or where a variable moves it; null without either. */
export function findOwnDirectory(
  { env, home, cwd }: Surroundings,
  variable: string,
  name: string,
): string | null {
  const moved = env[variable] ?? '';
  if (moved !== '') return path.resolve(cwd, moved);
  return home === null ? null : path.join(home, name);
}

/** What a dialect needs to know of this machine, this user and this workspace. */
export interface DialectMachine {
  readonly surroundings: Surroundings;
  /** Real paths. */
  readonly workspaceRoots: readonly string[];
  /** The real path of the directory in which the session was opened. */
  readonly startDirectory: string;
  /** The directory for state; null without a home directory. */
  readonly stateDirectory: string | null;
  readonly settings: MachineSettings;
  readonly search: DialectSearch;
  /** The module that runs a TypeScript hook where there is no bun. */
  readonly typescriptLoader: string;
}

/** The effective settings: those that dialects share, and a dialect's own, which it reads by their names. */
export interface MachineSettings {
  readonly 'hooks.timeoutMs': number;
  readonly 'hooks.overrides': Readonly<Record<string, { readonly profile?: 'classic' | 'sdk' }>>;
  readonly [name: string]: unknown;
}

/** What a caller passes besides the default places. */
export interface DialectSearch {
  /** Places that the caller names, by the names of the dialects' options. */
  readonly paths?: NamedPaths;
  /** Services of the host for hooks that need more than a process. */
  readonly ports?: HookPorts;
  /** Whether a user can be asked; if not, asyncRewake hooks are awaited. */
  readonly isAttended?: boolean;
}
