import { statSync } from 'node:fs';
import path from 'node:path';
import { isDirectory, isNotFoundError } from '../../base/files.ts';
import type { ExpectedPath } from '../../base/misspelt-paths.ts';
import { findRealPath } from '../../base/paths.ts';
import { findPluginModules, findPluginModulesAt } from '../../plugins/find/find-modules.ts';
import type { FoundEntry, FoundModules } from '../../plugins/find/read-package.ts';
import { type Ignored, listMisspeltPlaces, type Place } from '../discovery.ts';
import { findOwningRoot, type HomeAndRoots, formatRootSuffix } from '../workspace-roots.ts';

/** The places that may contain plugins of the user and of workspaces. */
export interface PluginPlaces extends HomeAndRoots {
  /** The user's documents directories, the default one and a redirected one. */
  readonly documents: readonly string[];
  /** Cline's own directory, `~/.cline` unless the environment moves it. */
  readonly clineDirectory: string | null;
  /** Files and directories that the caller named, absolute. */
  readonly paths: readonly string[];
  /** Cline's settings file with disabled plugins; null without a home directory. */
  readonly clineSettings: string | null;
  /** Cline's file with the user's MCP servers; null without a home directory. */
  readonly clineServers: string | null;
}

/** One place that is searched. */
export interface PluginRoot {
  readonly path: string;
  readonly place: Place;
  /** The part of a plugin's id that names its place. */
  readonly label: string;
  /** Distinguishes this root from the others of the session in ids; empty for the first. */
  readonly suffix: string;
  /** The real path of its workspace root; null for others. */
  readonly root: string | null;
}

/** A plugin, valid or not, with its id in this session. */
export interface NamedPlugin {
  readonly id: string;
  readonly ownId: string;
  readonly from: PluginRoot;
  readonly entry: FoundEntry;
  /** Why it cannot be loaded, or null. */
  readonly problem: string | null;
  /** Whether the problem is also reported by its file, among what is ignored. */
  readonly isReported: boolean;
  readonly place: Place;
  readonly root: string | null;
  /** Real paths of directories of other plugins beside it. */
  readonly apart: readonly string[];
}

/** Lists every directory that may contain plugins, in declared order. */
export function listPluginRoots(places: PluginPlaces): readonly PluginRoot[] {
  const { documents, clineDirectory, workspaceRoots } = places;
  const inClineDirectory =
    clineDirectory === null ? [] : [createHomeRoot(path.join(clineDirectory, 'plugins'), 'home')];
  const inDocuments = documents.map((directory, index) =>
    createHomeRoot(
      path.join(directory, 'Cline', 'Plugins'),
      index === 0 ? 'global' : `global~${index + 1}`,
    ),
  );
  const ofWorkspaces = workspaceRoots.map((root, index): PluginRoot => {
    const suffix = formatRootSuffix(workspaceRoots, index);
    const directory = path.join(root, '.cline', 'plugins');
    return { path: directory, place: 'workspace', label: 'workspace', suffix, root };
  });
  return [...inClineDirectory, ...inDocuments, ...ofWorkspaces];
}

function createHomeRoot(directory: string, label: string): PluginRoot {
  return { path: directory, place: 'home', label, suffix: '', root: null };
}

/** Searches every place. Runs nothing, and makes one system call for each place that does not exist. */
export function findPlugins(places: PluginPlaces): {
  readonly plugins: readonly NamedPlugin[];
  readonly ignored: readonly Ignored[];
} {
  const directories = listPluginRoots(places).filter(({ path: place }) => canExist(place));
  const searches = [
    ...removeRepeats(directories).map((from) => ({ from, found: findPluginModules(from.path) })),
    ...places.paths.map((file) => ({
      from: createGivenRoot(file),
      found: findPluginModulesAt(file),
    })),
  ];
  const names = new Map<string, number>();
  const files = new Set<string>();
  return {
    plugins: searches.flatMap(({ from, found }) =>
      listPluginsAndProblems(found)
        .filter(({ entry, problem }) => problem !== null || isFirst(entry.file, files))
        .map((each) => addName(each, from, found, names, places)),
    ),
    ignored: [
      ...searches.flatMap(({ found }) => found.ignored.map(toIgnored)),
      ...listMisspeltPlaces(listExpectedDirectories(places)),
    ],
  };
}

/** Lists the directories of plugins whose names people misspell. */
function listExpectedDirectories(places: PluginPlaces): readonly ExpectedPath[] {
  const { documents, clineDirectory, workspaceRoots } = places;
  const isMeant = (directory: string): boolean =>
    isDirectory(directory) && findPluginModules(directory).entries.length > 0;
  return [
    ...workspaceRoots.map((base) => ({ base, names: ['.cline', 'plugins'], isMeant })),
    ...(clineDirectory === null ? [] : [{ base: clineDirectory, names: ['plugins'], isMeant }]),
    ...documents.map((directory) => ({
      base: path.join(directory, 'Cline'),
      names: ['Plugins'],
      isMeant,
    })),
  ];
}

/** True when the place cannot be read, because it may exist. */
function canExist(place: string): boolean {
  try {
    return statSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !isNotFoundError(error);
  }
}

function removeRepeats(directories: readonly PluginRoot[]): readonly PluginRoot[] {
  const visited = new Set<string>();
  return directories.filter((each) => isFirst(findRealPath(each.path) ?? each.path, visited));
}

function isFirst(name: string, visited: Set<string>): boolean {
  if (visited.has(name)) return false;
  visited.add(name);
  return true;
}

function createGivenRoot(file: string): PluginRoot {
  return { path: file, place: 'given', label: 'given', suffix: '', root: null };
}

type PluginOrProblem = Pick<NamedPlugin, 'entry' | 'problem' | 'isReported'>;

/**
 * Lists valid plugins, then broken ones, which are listed under a name too. A file that cannot be parsed
 * is also among what is ignored.
 */
function listPluginsAndProblems(found: FoundModules): readonly PluginOrProblem[] {
  const { entries, problems, ignored } = found;
  const findProblem = (file: string): string | null => {
    const hidden = ignored.find((each) => each.mayHidePlugin === true && each.path === file);
    return hidden === undefined ? null : `${file} ${hidden.why}`;
  };
  return [
    ...entries.map((entry) => {
      const problem = findProblem(entry.path);
      return { entry, problem, isReported: problem !== null };
    }),
    ...problems.map(({ path: file, label, message }) => ({
      entry: { file, path: file, label, package: null, capabilities: null },
      problem: message,
      isReported: false,
    })),
  ];
}

/** `names` counts how often each name was used. */
function addName(
  { entry, problem, isReported }: PluginOrProblem,
  from: PluginRoot,
  found: FoundModules,
  names: Map<string, number>,
  places: PluginPlaces,
): NamedPlugin {
  const name = formatName(entry, found);
  const key = `${from.label}${from.suffix}:${name}`;
  const count = (names.get(key) ?? 0) + 1;
  names.set(key, count);
  const mark = count === 1 ? '' : `~${count}`;
  const root = from.root ?? findOwningRoot(entry.path, places);
  return {
    id: `plugin:${key}${mark}`,
    ownId: `plugin:${from.label}:${name}${mark}`,
    from,
    entry,
    problem,
    isReported,
    place: root === null ? from.place : 'workspace',
    root,
    apart: found.apart,
  };
}

/**
 * Formats the label and, for one of several plugins in a package, the file's name, without special
 * characters.
 */
function formatName(entry: FoundEntry, { entries }: FoundModules): string {
  const isOneOfSeveral =
    entry.package !== null &&
    entries.some((other) => other !== entry && other.label === entry.label);
  const stem = path.basename(entry.path, path.extname(entry.path));
  const name = isOneOfSeveral ? `${entry.label}/${stem}` : entry.label;
  return name.replaceAll(/[^\p{L}\p{N}@/._+-]+/gu, '-');
}

function toIgnored({ path: place, why, isQuiet, mayHidePlugin }: FoundModules['ignored'][number]) {
  return {
    path: place,
    why,
    ...(isQuiet === true ? { isQuiet } : {}),
    ...(mayHidePlugin === true ? { mayHideHook: mayHidePlugin } : {}),
  };
}
