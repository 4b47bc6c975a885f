import type { ShellMachine } from '../../process/shell.ts';
import type { HomeAndRoots } from '../workspace-roots.ts';
import path from 'node:path';
import { createProgramFinder } from '../../process/program-finder.ts';
import { cleanSearchPath, listUntrustedDirectories } from '../../process/search-path.ts';
import type { DialectMachine } from '../machine.ts';
import { listNamedPaths, readSetting } from '../options.ts';
import { CLAUDE_DIALECT_SETTINGS, CLAUDE_SETTINGS, PLUGIN_DIRECTORIES } from './options.ts';
import { findClineDirectory } from '../shared-directories.ts';
import { findClaudeDirectory, findManagedDirectory } from './directories.ts';

/** Shared by all hooks in Claude's format of one session. */
export interface ClaudeSession {
  /** The directory in which the session started; it does not follow the current directory. */
  readonly startDirectory: string;
  readonly home: string | null;
  /** The directory for environment files, transcripts and long outputs; null without a home directory. */
  readonly stateDirectory: string | null;
  /** Whether a user is at the terminal. */
  readonly isAttended: boolean;
  /** Whether asyncRewake hooks are awaited, because the session cannot be woken later. */
  readonly awaitsRewake: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that the user's settings add to the environment of hooks. */
  readonly settingsEnv: Readonly<Record<string, string>>;
  readonly machine: ShellMachine;
  /** Directories whose programs hooks of the user do not find on their PATH. */
  readonly untrusted: readonly string[];
}

/** The places that may contain configuration in Claude's format, and the default of what it leaves out. */
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
  /** How long a command without a `timeout` may run. */
  readonly commandTimeoutMs: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What hooks in Claude's format run with on this machine. */
export function createClaudeSession(machine: DialectMachine): Omit<ClaudeSession, 'settingsEnv'> {
  const { surroundings, workspaceRoots, startDirectory, stateDirectory, search } = machine;
  const { env, home, platform } = surroundings;
  const isAttended = search.isAttended ?? false;
  const untrusted = listUntrustedDirectories(workspaceRoots, home);
  const searchPath = cleanSearchPath(env['PATH'], untrusted, platform);
  return {
    startDirectory,
    home,
    stateDirectory,
    isAttended,
    awaitsRewake: !isAttended,
    env,
    machine: { platform, findProgram: createProgramFinder(searchPath, platform, env['PATHEXT']) },
    untrusted,
  };
}

/** Finds the places that may contain configuration in Claude's format on this machine. */
export function findClaudePlaces(machine: DialectMachine): ClaudePlaces {
  const { surroundings, workspaceRoots, startDirectory, settings } = machine;
  const { paths: places = {} } = machine.search;
  const { env, home, cwd } = surroundings;
  return {
    startDirectory,
    workspaceRoots,
    home,
    claudeDirectory: findClaudeDirectory(surroundings),
    clineDirectory: findClineDirectory(surroundings),
    managedDirectory: findManagedDirectory(surroundings),
    pluginDirectories: listNamedPaths(places, PLUGIN_DIRECTORIES).map((each) =>
      path.resolve(cwd, each),
    ),
    flagSettings: listNamedPaths(places, CLAUDE_SETTINGS)[0] ?? null,
    commandTimeoutMs: readSetting(
      CLAUDE_DIALECT_SETTINGS['hooks.commandTimeoutMs'],
      settings['hooks.commandTimeoutMs'],
    ),
    env,
  };
}
