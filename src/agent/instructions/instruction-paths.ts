import path from 'node:path';
import { isInside } from '../../base/paths.ts';

/** Where texts for the agent may lie. All paths are absolute. */
export interface InstructionPaths {
  readonly startDirectory: string;
  /** The workspace's roots, the primary one first. */
  readonly roots: readonly string[];
  readonly home: string | null;
  /** `~/.claude`, unless the environment moves it. */
  readonly claudeDirectory?: string | null;
  /** What the machine's administrator rules, such as `/etc/claude-code`. */
  readonly managedDirectory?: string | null;
  /** Claude plugins that are in use. */
  readonly plugins?: readonly PluginPlace[];
  /** Directories of Cline plugins, each with one directory for each skill. */
  readonly skillDirectories?: readonly string[];
}

export interface PluginPlace {
  readonly name: string;
  readonly directory: string;
}

/** Whose text it is, in the words that hooks are told. */
export type InstructionSource = 'projectSettings' | 'userSettings' | 'plugin' | 'builtin' | 'mcp';

/** A directory that may hold skills, commands or sub-agents. */
export interface InstructionDirectory {
  readonly directory: string;
  readonly source: InstructionSource;
  /** The plugin's name, which goes before each name in it. */
  readonly prefix: string | null;
  /** Where all of it must really lie; absent where other rules hold. */
  readonly within?: string;
}

/** `.claude/<folder>` of the project, then the person's, then each plugin's: the first of a name wins. */
export function listDirectories(folder: string, places: InstructionPaths): InstructionDirectory[] {
  const mine = resolveClaudeDirectory(places);
  const project = listProjectDirectories(places).map((directory) =>
    toProjectDirectory(path.join(directory, '.claude', folder)),
  );
  const user =
    mine === null
      ? []
      : [{ directory: path.join(mine, folder), source: 'userSettings', prefix: null } as const];
  const plugins = (places.plugins ?? []).map(
    ({ name, directory }) =>
      ({ directory: path.join(directory, folder), source: 'plugin', prefix: name }) as const,
  );
  return [...project, ...user, ...plugins];
}

export function toProjectDirectory(directory: string): InstructionDirectory {
  return { directory, source: 'projectSettings', prefix: null };
}

export function resolveClaudeDirectory({ claudeDirectory, home }: InstructionPaths): string | null {
  if (claudeDirectory !== undefined) return claudeDirectory;
  return home === null ? null : path.join(home, '.claude');
}

/** The start directory first: what is nearer to the work wins. */
export function listProjectDirectories({
  startDirectory,
  roots,
}: InstructionPaths): readonly string[] {
  return [...new Set([startDirectory, ...roots])];
}

/** From the root that holds it down to the directory itself; only itself when no root does. */
export function listDirectoriesDownTo(
  directory: string,
  roots: readonly string[],
): readonly string[] {
  const root = roots.map((each) => path.resolve(each)).find((each) => isInside(each, directory));
  if (root === undefined) return [directory];
  const way: string[] = [];
  for (let at = path.resolve(directory); at !== root; at = path.dirname(at)) way.unshift(at);
  return [root, ...way];
}
