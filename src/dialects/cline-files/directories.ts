import path from 'node:path';
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
    createHomeDirectory(
      path.join(directory, 'Cline', 'Rules', 'Hooks'),
      formatNumberedLabel('global-rules', index),
    ),
  ]);
  const inClineDirectory =
    clineDirectory === null
      ? []
      : [createHomeDirectory(path.join(clineDirectory, 'hooks'), 'home')];
  return [...inDocuments, ...inClineDirectory];
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
