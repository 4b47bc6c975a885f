import { type Dirent, lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { isNotFoundError, isDataDirectory, isDataFile } from '../base/files.ts';
import {
  joinChildPath,
  findPathInside,
  findRealPath,
  isInside,
  resolveRealPath,
} from '../base/paths.ts';
import { APART_MARK } from './file-map.ts';
import { type Probe, probePath, probePathState } from './fingerprint.ts';
import { followReferences, type FollowPort } from './follow-references.ts';
import type { TrustUnit } from './trust-unit.ts';

export type { Binds, Starts, TrustUnit } from './trust-unit.ts';

/** The paths that a unit binds. */
export interface Collection {
  readonly root: string;
  readonly entry: string;
  /** The key of the entry, before links are followed. */
  readonly name: string;
  /** Regular files by key, as real paths. */
  readonly files: Map<string, string>;
  /** What else is bound: links, directories and missing files. */
  readonly marks: Map<string, string>;
  /** Keys of files with the executable bit of their owner, the one that git stores. */
  readonly executable: ReadonlySet<string>;
  /** Keys of what is bound because something bound loads or starts it; locks of version 1 lack them. */
  readonly followed: ReadonlySet<string>;
  /** Those of them that are found only because the PATH leads into the workspace. */
  readonly searched: ReadonlySet<string>;
  readonly probes: Probe[];
  /** What is not bound, as sentences. */
  readonly unbound: Set<string>;
  /** Packages and links that are not bound, by name. */
  readonly uncovered: Set<string>;
  /** Interpreters outside of the workspace, which are not bound, as they are written. */
  readonly interpreters: Set<string>;
}

const MAX_FILES = 2_000;
export const MAX_BYTES = 64 * 1024 * 1024;
const OWNER_EXECUTES = 0o100n;

interface Walk extends Collection {
  readonly unit: TrustUnit;
  readonly directories: Set<string>;
  readonly executable: Set<string>;
  readonly followed: Set<string>;
  readonly searched: Set<string>;
  bytes: number;
}

/** Throws a HooklineError when the unit is too large or something in it cannot be read. */
export function collectUnit(unit: TrustUnit): Collection {
  const walk = startWalk(unit);
  if (unit.text === undefined) addEntry(walk);
  for (const file of unit.files) addNamed(walk, file);
  for (const directory of unit.directories) addNamedDirectory(walk, directory);
  followReferences(unit, createFollowPort(walk));
  return walk;
}

function createFollowPort(walk: Walk): FollowPort {
  const probed = new Set(walk.directories);
  let isSearching = false;
  return {
    root: walk.root,
    addFile: (file) => addReference(walk, file, isSearching),
    probeDirectory: (directory) => {
      if (probed.has(directory)) return;
      probed.add(directory);
      walk.probes.push(probePath(directory, 'state'));
    },
    addUncovered: (name) => walk.uncovered.add(name),
    addInterpreter: (name) => walk.interpreters.add(name),
    startSearchPath: () => {
      isSearching = true;
    },
  };
}

/** Of a link that leads out of the workspace only the target's path is bound. */
function addReference(walk: Walk, file: string, isSearching: boolean): string | null {
  const real = findTarget(file);
  if (real === null) return null;
  const location = resolveParentLinks(walk.root, file);
  const markKey = toFileKey(walk.root, location);
  if (real !== location && !walk.marks.has(markKey)) {
    walk.marks.set(markKey, `link:${toFileKey(walk.root, real)}`);
    walk.probes.push(probePath(file, 'target'));
    noteFollowed(walk, markKey, isSearching);
  }
  if (!isInside(walk.root, real)) {
    walk.uncovered.add(`${real} (outside the workspace)`);
    return null;
  }
  const key = toFileKey(walk.root, real);
  if (!walk.files.has(key)) {
    addFile(walk, key, real);
    noteFollowed(walk, key, isSearching);
  }
  return real;
}

function noteFollowed(walk: Walk, key: string, isSearching: boolean): void {
  walk.followed.add(key);
  if (isSearching) walk.searched.add(key);
}

function startWalk(unit: TrustUnit): Walk {
  const root = resolveOrThrow(unit.root);
  const entry = resolveOrThrow(unit.entry);
  return {
    unit,
    root,
    entry,
    name: toFileKey(root, resolveParentLinks(root, unit.entry)),
    files: new Map(),
    marks: new Map(),
    executable: new Set(),
    followed: new Set(),
    searched: new Set(),
    probes: [probePath(unit.entry, 'target')],
    unbound: new Set(),
    uncovered: new Set(),
    interpreters: new Set(),
    directories: new Set(),
    bytes: 0,
  };
}

function resolveOrThrow(file: string): string {
  return readOrThrow(file, () => resolveRealPath(file));
}

function addEntry(walk: Walk): void {
  const { unit, entry } = walk;
  addNamed(walk, unit.entry);
  if (!walk.files.has(toFileKey(walk.root, entry))) {
    throw createUnreadableError(unit.entry, 'it is not a regular file');
  }
  const linked = findLinkedDirectory(unit, walk);
  if (linked !== null) addDirectory(walk, linked);
}

/** The real directory of the entry, if a link leads out of the directory in which it was found. */
export function findLinkedDirectory(
  unit: TrustUnit,
  real: { readonly root: string; readonly entry: string },
): string | null {
  const location = path.dirname(real.entry);
  return location === path.dirname(resolveParentLinks(real.root, unit.entry)) ? null : location;
}

function addNamed(walk: Walk, namedPath: string): void {
  const real = addLinkOrAbsence(walk, namedPath);
  if (real === null) return;
  const stats = readOrThrow(real, () => statSync(real));
  if (stats.isDirectory()) return markDirectory(walk, real);
  addFileOrSpecial(walk, real, stats);
}

function markDirectory(walk: Walk, directory: string): void {
  const key = toFileKey(walk.root, directory);
  walk.marks.set(key, 'directory');
  walk.probes.push(probePath(directory, 'state'));
  if (!walk.unit.directories.includes(directory)) {
    walk.unbound.add(`${quotePath(key)} is a directory: its files are not tracked`);
  }
}

function addNamedDirectory(walk: Walk, namedPath: string): void {
  const real = addLinkOrAbsence(walk, namedPath);
  if (real !== null) addDirectory(walk, real);
}

/** Resolves a path and marks its link target or absence, so that a later change of links is noticed. */
function addLinkOrAbsence(walk: Walk, namedPath: string): string | null {
  const location = resolveParentLinks(walk.root, namedPath);
  const key = toFileKey(walk.root, location);
  walk.probes.push(probePath(namedPath, 'target'));
  const real = findTarget(namedPath);
  if (real === null) {
    walk.marks.set(key, formatAbsenceMark(namedPath));
    return null;
  }
  if (real !== location) walk.marks.set(key, `link:${toFileKey(walk.root, real)}`);
  return real;
}

function findTarget(file: string): string | null {
  try {
    return resolveRealPath(file);
  } catch (error) {
    if (isNotFoundError(error)) return null;
    throw createUnreadableError(file, getErrorMessage(error), error);
  }
}

function formatAbsenceMark(file: string): string {
  const stats = readOrThrow(file, () => lstatSync(file, { throwIfNoEntry: false }));
  if (stats?.isSymbolicLink() !== true) return 'absent';
  return `absent:${readOrThrow(file, () => readlinkSync(file))}`;
}

function addDirectory(walk: Walk, start: string): void {
  const queue = [...listWalkable(walk, start)];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    queue.push(...addListing(walk, next));
  }
}

function listWalkable(walk: Walk, directory: string): readonly string[] {
  if (!isInside(walk.root, directory)) {
    walk.unbound.add(`${quotePath(directory)} is outside the workspace: its files are not tracked`);
    return [];
  }
  if (directory === walk.root) {
    walk.unbound.add('the workspace root is not tracked as a whole, only the files named in it');
    return [];
  }
  return [directory];
}

function addListing(walk: Walk, directory: string): readonly string[] {
  if (walk.directories.has(directory)) return [];
  walk.directories.add(directory);
  if (walk.unit.apart?.includes(directory) === true) {
    walk.marks.set(toFileKey(walk.root, directory), APART_MARK);
    return [];
  }
  if (walk.directories.size > MAX_FILES) {
    throw createTooLargeError(walk.unit, `${MAX_FILES} directories`);
  }
  walk.probes.push(probePath(directory, 'state'));
  const listing = readOrThrow(directory, () => readdirSync(directory, { withFileTypes: true }));
  return listing.flatMap((listed) => addListed(walk, directory, listed));
}

/** Returns the directories to walk as well. */
function addListed(walk: Walk, directory: string, listed: Dirent): readonly string[] {
  const file = joinChildPath(directory, listed.name);
  if (isRuntimeData(listed, walk.unit)) return excludeFile(walk, file);
  if (listed.isSymbolicLink()) return addLink(walk, file);
  if (!listed.isDirectory()) {
    addFileOrSpecial(walk, file, listed);
    return [];
  }
  if (listed.name !== '.git') return [file];
  const key = toFileKey(walk.root, file);
  walk.unbound.add(`${quotePath(key)} belongs to a nested repository: it is not tracked`);
  return [];
}

/** Hooks that write a log or state next to themselves would lose their trust with every run. */
function isRuntimeData(listed: Dirent, { isPackage }: TrustUnit): boolean {
  if (listed.isDirectory()) return isPackage !== true && isDataDirectory(listed.name);
  return listed.isFile() && isDataFile(listed.name);
}

function excludeFile(walk: Walk, file: string): readonly string[] {
  const key = toFileKey(walk.root, file);
  walk.unbound.add(`${quotePath(key)} has the name of a log, cache or state: it is not tracked`);
  return [];
}

function addLink(walk: Walk, link: string): readonly string[] {
  const real = addLinkOrAbsence(walk, link);
  if (real === null) return [];
  const stats = readOrThrow(real, () => statSync(real));
  if (stats.isDirectory()) return listWalkable(walk, real);
  addFileOrSpecial(walk, real, stats);
  return [];
}

function addFileOrSpecial(walk: Walk, real: string, kind: { isFile(): boolean }): void {
  const key = toFileKey(walk.root, real);
  if (kind.isFile()) return addFile(walk, key, real);
  walk.unbound.add(`${quotePath(key)} is neither a file nor a directory: it is not tracked`);
}

function addFile(walk: Walk, key: string, real: string): void {
  if (walk.files.has(key)) return;
  const state = probePathState(real);
  walk.probes.push(state);
  walk.files.set(key, real);
  if (((state.value?.mode ?? 0n) & OWNER_EXECUTES) !== 0n) walk.executable.add(key);
  walk.bytes += Number(state.value?.size ?? 0);
  if (walk.files.size > MAX_FILES) throw createTooLargeError(walk.unit, `${MAX_FILES} files`);
  if (walk.bytes > MAX_BYTES) throw createTooLargeError(walk.unit, '64 MiB');
}

/** Resolves the links of the parent directories, but not the path itself, which may be a link. */
function resolveParentLinks(root: string, file: string): string {
  if (isInside(root, file)) return path.normalize(file);
  const parent = path.dirname(file);
  return path.join(findRealPath(parent) ?? parent, path.basename(file));
}

/** Relative to the root, so that a binding does not depend on the path of the checkout; else absolute. */
export function toFileKey(root: string, file: string): string {
  const key = findPathInside(root, file) ?? file;
  return path.sep === '/' ? key : key.replaceAll(path.sep, '/');
}

export function createTooLargeError(unit: TrustUnit, limit: string): HooklineError {
  const places = unit.directories.map(quotePath).join(', ');
  return new HooklineError('TRUST_UNIT_TOO_LARGE', {
    message: `${unit.id} would bind more than ${limit} in ${places} and what is linked from there`,
    hint: 'Move the hook into a directory of its own, with only the files that it needs.',
  });
}

function readOrThrow<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw createUnreadableError(file, getErrorMessage(error), error);
  }
}

export function createUnreadableError(file: string, why: string, cause?: unknown): HooklineError {
  return new HooklineError('CONFIG_UNREADABLE', {
    message: `${quotePath(file)} must be readable to be trusted: ${why}`,
    hint: 'Make it readable, or move it out of the hook’s directory.',
    cause,
  });
}

/** File names come from the repository, and may contain newlines or terminal codes. */
function quotePath(file: string): string {
  return JSON.stringify(file);
}
