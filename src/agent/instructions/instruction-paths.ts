import path from 'node:path';
import { isInside } from '../../base/paths.ts';

/** The directories that may hold instructions for the agent. All paths are absolute. */
export interface InstructionPaths {
  readonly startDirectory: string;
  /** The workspace roots, primary first. */
  readonly roots: readonly string[];
  readonly home: string | null;
  /** Default: `~/.claude`. */
  readonly claudeDirectory?: string | null;
  /** The directory that the machine's administrator controls, such as `/etc/claude-code`. */
  readonly managedDirectory?: string | null;
  /** The Claude plugins in use. */
  readonly plugins?: readonly PluginPlace[];
  /** Skill directories of Cline plugins, with one subdirectory per skill. */
  readonly skillDirectories?: readonly string[];
}

export interface PluginPlace {
  readonly name: string;
  readonly directory: string;
}

/** The origin of a text, in the words of hook payloads. */
export type InstructionSource = 'projectSettings' | 'userSettings' | 'plugin' | 'builtin' | 'mcp';

/** A directory that may hold skills, commands or sub-agents. */
export interface InstructionDirectory {
  readonly path: string;
  readonly source: InstructionSource;
  /** The plugin's name, prefixed to each name in the directory. */
  readonly prefix: string | null;
  /** The directory that all files must resolve into; when absent, the workspace roots apply. */
  readonly within?: string;
}

/** `.claude/<folder>` of the project, then of the user, then of each plugin: the first of a name wins. */
export function listDirectories(folder: string, paths: InstructionPaths): InstructionDirectory[] {
  const userDirectory = resolveClaudeDirectory(paths);
  const project = listProjectDirectories(paths).map((directory) =>
    toProjectDirectory(path.join(directory, '.claude', folder)),
  );
  const user =
    userDirectory === null
      ? []
      : [{ path: path.join(userDirectory, folder), source: 'userSettings', prefix: null } as const];
  const plugins = (paths.plugins ?? []).map(
    ({ name, directory }) =>
      ({ path: path.join(directory, folder), source: 'plugin', prefix: name }) as const,
  );
  return [...project, ...user, ...plugins];
}

export function toProjectDirectory(directory: string): InstructionDirectory {
  return { path: directory, source: 'projectSettings', prefix: null };
}

export function resolveClaudeDirectory({ claudeDirectory, home }: InstructionPaths): string | null {
  if (claudeDirectory !== undefined) return claudeDirectory;
  return home === null ? null : path.join(home, '.claude');
}

/** The start directory comes first, so that the nearest definition wins. */
export function listProjectDirectories({
  startDirectory,
  roots,
}: InstructionPaths): readonly string[] {
  return [...new Set([startDirectory, ...roots])];
}

/**
 * The directories from the root that contains a directory down to it; only the directory itself when no
 * root does.
 */
export function listDirectoriesDownTo(
  directory: string,
  roots: readonly string[],
): readonly string[] {
  const root = roots.map((each) => path.resolve(each)).find((each) => isInside(each, directory));
  if (root === undefined) return [directory];
  const descendants: string[] = [];
  for (let at = path.resolve(directory); at !== root; at = path.dirname(at)) {
    descendants.unshift(at);
  }
  return [root, ...descendants];
}
