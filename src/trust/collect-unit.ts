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

/** What one decision of trust covers: an entry and all that it is known to run. */
export interface TrustUnit {
  /** Such as `cline:workspace:PreToolUse`. */
  readonly id: string;
  /** The workspace root: nothing is trusted beyond it. */
  readonly root: string;
  /** Absolute, as discovered; may be a link. */
  readonly entry: string;
  /** A config entry's own text. It is bound instead of the bytes of the file that it stands in. */
  readonly text?: string;
  /** Further files that the entry names, absolute; they may be missing. */
  readonly files: readonly string[];
  /** Directories whose files are all bound, at any depth. */
  readonly directories: readonly string[];
  /** Directories in these that belong to others: bound is that they are there; real paths. */
  readonly apart?: readonly string[];
  /** Set for a package: `state` and `cache` are names of its code as well. */
  readonly isPackage?: true;
}

/** Everything that a unit binds, found without reading a byte of it. */
export interface Collection {
  readonly root: string;
  readonly entry: string;
  /** The entry's key as discovered, before links are followed. */
  readonly name: string;
  /** Regular files by key, as real paths. */
  readonly files: Map<string, string>;
  /** What else is bound: links and what is missing. */
  readonly marks: Map<string, string>;
  readonly probes: Probe[];
  /** What lies here and is not bound, as sentences. */
  readonly unbound: Set<string>;
}

const MAX_FILES = 2_000;
export const MAX_BYTES = 64 * 1024 * 1024;

interface Walk extends Collection {
  readonly unit: TrustUnit;
  readonly directories: Set<string>;
  bytes: number;
}

/** Throws a HooklineError when the unit is too large or something in it cannot be read. */
export function collectUnit(unit: TrustUnit): Collection {
  const walk = startWalk(unit);
  if (unit.text === undefined) addEntry(walk);
  for (const file of unit.files) addNamed(walk, file);
  for (const directory of unit.directories) addNamedDirectory(walk, directory);
  return walk;
}

function startWalk(unit: TrustUnit): Walk {
  const root = realPathOf(unit.root);
  const entry = realPathOf(unit.entry);
  return {
    unit,
    root,
    entry,
    name: toFileKey(root, unlinkedParent(root, unit.entry)),
    files: new Map(),
    marks: new Map(),
    probes: [probePath(unit.entry, 'target')],
    unbound: new Set(),
    directories: new Set(),
    bytes: 0,
  };
}

function realPathOf(file: string): string {
  return attempt(file, () => resolveRealPath(file));
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

/** Where the entry really lies, if a link leads to another directory than it was found in. */
export function findLinkedDirectory(
  unit: TrustUnit,
  real: { readonly root: string; readonly entry: string },
): string | null {
  const place = path.dirname(real.entry);
  return place === path.dirname(unlinkedParent(real.root, unit.entry)) ? null : place;
}

function addNamed(walk: Walk, named: string): void {
  const real = addLinkOrAbsence(walk, named);
  if (real === null) return;
  const stats = attempt(real, () => statSync(real));
  if (stats.isDirectory()) return addUnwalked(walk, real);
  addFileOrSpecial(walk, real, stats);
}

function addUnwalked(walk: Walk, directory: string): void {
  const key = toFileKey(walk.root, directory);
  walk.marks.set(key, 'directory');
  walk.probes.push(probePath(directory, 'state'));
  if (!walk.unit.directories.includes(directory)) {
    walk.unbound.add(`${quote(key)} is a directory: its files are not bound`);
  }
}

function addNamedDirectory(walk: Walk, named: string): void {
  const real = addLinkOrAbsence(walk, named);
  if (real !== null) addDirectory(walk, real);
}

/** Follows a path to its real one and marks what a later swap of links would change. */
function addLinkOrAbsence(walk: Walk, named: string): string | null {
  const place = unlinkedParent(walk.root, named);
  const key = toFileKey(walk.root, place);
  walk.probes.push(probePath(named, 'target'));
  const real = findTarget(named);
  if (real === null) {
    walk.marks.set(key, absenceMark(named));
    return null;
  }
  if (real !== place) walk.marks.set(key, `link:${toFileKey(walk.root, real)}`);
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

function absenceMark(file: string): string {
  const stats = attempt(file, () => lstatSync(file, { throwIfNoEntry: false }));
  if (stats?.isSymbolicLink() !== true) return 'absent';
  return `absent:${attempt(file, () => readlinkSync(file))}`;
}

function addDirectory(walk: Walk, start: string): void {
  const waiting = [...walkable(walk, start)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    waiting.push(...addListing(walk, next));
  }
}

function walkable(walk: Walk, directory: string): readonly string[] {
  if (!isInside(walk.root, directory)) {
    walk.unbound.add(`${quote(directory)} lies outside the workspace: its files are not bound`);
    return [];
  }
  if (directory === walk.root) {
    walk.unbound.add('the workspace root is not bound as a whole, only the files named in it');
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
  if (walk.directories.size > MAX_FILES)
    throw createTooLargeError(walk.unit, `${MAX_FILES} directories`);
  walk.probes.push(probePath(directory, 'state'));
  const listing = attempt(directory, () => readdirSync(directory, { withFileTypes: true }));
  return listing.flatMap((listed) => addListed(walk, directory, listed));
}

/** Returns the directories that are to be walked as well. */
function addListed(walk: Walk, directory: string, listed: Dirent): readonly string[] {
  const file = joinChildPath(directory, listed.name);
  if (isWrittenByHooks(listed, walk.unit)) return leaveOut(walk, file);
  if (listed.isSymbolicLink()) return addLink(walk, file);
  if (!listed.isDirectory()) {
    addFileOrSpecial(walk, file, listed);
    return [];
  }
  if (listed.name !== '.git') return [file];
  const key = toFileKey(walk.root, file);
  walk.unbound.add(`${quote(key)} belongs to a nested repository: it is not bound`);
  return [];
}

/** Hooks that keep a log or a state beside themselves would stop being trusted with every run. */
function isWrittenByHooks(listed: Dirent, { isPackage }: TrustUnit): boolean {
  if (listed.isDirectory()) return isPackage !== true && isDataDirectory(listed.name);
  return listed.isFile() && isDataFile(listed.name);
}

function leaveOut(walk: Walk, file: string): readonly string[] {
  const key = toFileKey(walk.root, file);
  walk.unbound.add(`${quote(key)} holds what hooks write, by its name: it is not bound`);
  return [];
}

function addLink(walk: Walk, link: string): readonly string[] {
  const real = addLinkOrAbsence(walk, link);
  if (real === null) return [];
  const stats = attempt(real, () => statSync(real));
  if (stats.isDirectory()) return walkable(walk, real);
  addFileOrSpecial(walk, real, stats);
  return [];
}

function addFileOrSpecial(walk: Walk, real: string, kind: { isFile(): boolean }): void {
  const key = toFileKey(walk.root, real);
  if (kind.isFile()) return addFile(walk, key, real);
  walk.unbound.add(`${quote(key)} is neither a file nor a directory: it is not bound`);
}

function addFile(walk: Walk, key: string, real: string): void {
  if (walk.files.has(key)) return;
  const state = probePathState(real);
  walk.probes.push(state);
  walk.files.set(key, real);
  walk.bytes += Number(state.seen?.size ?? 0);
  if (walk.files.size > MAX_FILES) throw createTooLargeError(walk.unit, `${MAX_FILES} files`);
  if (walk.bytes > MAX_BYTES) throw createTooLargeError(walk.unit, '64 MiB');
}

/** A path with its links resolved, all but the last: the link itself has a name, too. */
function unlinkedParent(root: string, file: string): string {
  if (isInside(root, file)) return path.normalize(file);
  const parent = path.dirname(file);
  return path.join(findRealPath(parent) ?? parent, path.basename(file));
}

/** Relative to the root, so that a binding holds wherever the checkout lies; else absolute. */
export function toFileKey(root: string, file: string): string {
  const key = findPathInside(root, file) ?? file;
  return path.sep === '/' ? key : key.replaceAll(path.sep, '/');
}

export function createTooLargeError(unit: TrustUnit, limit: string): HooklineError {
  const places = unit.directories.map(quote).join(', ');
  return new HooklineError('TRUST_UNIT_TOO_LARGE', {
    message: `${unit.id} would bind more than ${limit} in ${places} and what is linked from there`,
    hint: 'Move the hook into a directory of its own, with only the files that it needs.',
  });
}

function attempt<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw createUnreadableError(file, getErrorMessage(error), error);
  }
}

export function createUnreadableError(file: string, why: string, cause?: unknown): HooklineError {
  return new HooklineError('CONFIG_UNREADABLE', {
    message: `${quote(file)} must be readable to be trusted: ${why}`,
    hint: 'Make it readable for you, or take it out of the hook’s directory.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** File names come from the repository, and may hold newlines or terminal codes. */
function quote(file: string): string {
  return JSON.stringify(file);
}
