import { readdirSync } from 'node:fs';
import path from 'node:path';
import { tryOrNull } from '../../base/errors.ts';
import type { ExpectedPath } from '../../base/misspelt-paths.ts';
import { findRealPath } from '../../base/paths.ts';
import type { Place } from '../discovery.ts';
import { findOwningRoot, formatRootSuffix } from '../workspace-roots.ts';

/** The places that may contain hooks of the user and of workspaces. */
export interface HookPlaces {
  /** Null when unknown. */
  readonly home: string | null;
  /** The user's documents directories, the default one and a redirected one. */
  readonly documents: readonly string[];
  /** Cline's own directory, `~/.cline` unless the environment moves it. */
  readonly clineDirectory: string | null;
  readonly workspaceRoots: readonly string[];
  /** A directory that the caller named. */
  readonly hooksDirectory: string | null;
}

export interface HookDirectory {
  readonly path: string;
  readonly place: Place;
  /** The part of a hook's id that names its place. */
  readonly label: string;
  /** Distinguishes this root from the others of the session in ids; empty for the first. */
  readonly suffix: string;
  /** The real path of its workspace root; null for the user's own. */
  readonly root: string | null;
}

/** Lists every directory that may contain hooks, in declared order, each once. */
export function listHookDirectories(places: HookPlaces): readonly HookDirectory[] {
  const all = [...listPersonal(places), ...listNamed(places), ...listInWorkspaces(places)];
  return removeRepeats(all.map((directory) => resolvePlace(directory, places)));
}

function listPersonal({ documents, clineDirectory }: HookPlaces): HookDirectory[] {
  const inDocuments = documents.flatMap((directory, index) => [
    createHomeDirectory(
      path.join(directory, 'Cline', 'Hooks'),
      formatNumberedLabel('global', index),
    ),
    ...listInAnyCase(path.join(directory, 'Cline'), RULES_HOOKS).map((place, spelling) =>
      createHomeDirectory(
        place,
        formatNumberedLabel(`global-rules${spelling === 0 ? '' : `-${spelling + 1}`}`, index),
      ),
    ),
  ]);
  const inClineDirectory =
    clineDirectory === null
      ? []
      : [createHomeDirectory(path.join(clineDirectory, 'hooks'), 'home')];
  return [...inDocuments, ...inClineDirectory];
}

/** Documents of Cline write it in several ways. */
const RULES_HOOKS: readonly string[] = ['Rules', 'Hooks'];

/** The paths that exist in any case of the names, the usual one first; that one alone when there is none. */
function listInAnyCase(directory: string, names: readonly string[]): readonly string[] {
  const usual = path.join(directory, ...names);
  const found = names.reduce<readonly string[]>(
    (places, name) => places.flatMap((place) => listSpellings(place, name)),
    [directory],
  );
  return [...new Set([...(found.includes(usual) || found.length === 0 ? [usual] : []), ...found])];
}

function listSpellings(directory: string, name: string): readonly string[] {
  const names = tryOrNull(() => readdirSync(directory)) ?? [];
  return names
    .filter((each) => each.toLowerCase() === name.toLowerCase())
    .map((each) => path.join(directory, each));
}

/**
 * Numbers the labels, so that hooks of the default and of a redirected documents directory have
 * different ids.
 */
function formatNumberedLabel(label: string, index: number): string {
  return index === 0 ? label : `${label}~${index + 1}`;
}

function createHomeDirectory(directory: string, label: string): HookDirectory {
  return { path: directory, place: 'home', label, suffix: '', root: null };
}

function listNamed({ hooksDirectory }: HookPlaces): HookDirectory[] {
  if (hooksDirectory === null) return [];
  return [{ path: hooksDirectory, place: 'given', label: 'given', suffix: '', root: null }];
}

function listInWorkspaces({ workspaceRoots }: HookPlaces): HookDirectory[] {
  return workspaceRoots.flatMap((root, index) => {
    const suffix = formatRootSuffix(workspaceRoots, index);
    const place = 'workspace';
    return [
      { path: path.join(root, '.clinerules', 'hooks'), place, label: 'workspace', suffix, root },
      { path: path.join(root, '.cline', 'hooks'), place, label: 'workspace-cline', suffix, root },
    ];
  });
}

/** Lists the directories of hooks whose names people misspell. */
export function listExpectedDirectories(
  { documents, clineDirectory, workspaceRoots }: HookPlaces,
  isMeant: (directory: string) => boolean,
): readonly ExpectedPath[] {
  return [
    ...workspaceRoots.flatMap((root) => [
      { base: root, names: ['.clinerules', 'hooks'], isMeant },
      { base: root, names: ['.cline', 'hooks'], isMeant },
    ]),
    ...(clineDirectory === null ? [] : [{ base: clineDirectory, names: ['hooks'], isMeant }]),
    ...documents.flatMap((directory) => [
      { base: path.join(directory, 'Cline'), names: ['Hooks'], isMeant },
      {
        base: path.join(directory, 'Cline'),
        names: RULES_HOOKS,
        isMeant: (place: string): boolean =>
          !/\/rules\/hooks$/i.test(place.replaceAll(path.sep, '/')) && isMeant(place),
      },
    ]),
  ];
}

/** Assigns a personal or given directory, or a file in it, to the workspace that contains its real path. */
export function resolvePlace(
  directory: HookDirectory,
  places: HookPlaces,
  file: string = directory.path,
): HookDirectory {
  if (directory.place === 'workspace') return directory;
  const root = findOwningRoot(file, places);
  return root === null ? directory : { ...directory, place: 'workspace', root };
}

function removeRepeats(directories: readonly HookDirectory[]): HookDirectory[] {
  const knownPaths = new Set<string>();
  return directories.filter((directory) => {
    const real = findRealPath(directory.path) ?? directory.path;
    if (knownPaths.has(real)) return false;
    knownPaths.add(real);
    return true;
  });
}
