import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { getErrorCode, getErrorMessage } from '../../base/errors.ts';
import { isNotFoundError, isDirectory } from '../../base/files.ts';
import { createInstallError } from './source.ts';
import { getInstallDirectory, getStagingDirectory } from './layout.ts';

/** Contains, in this order: the new install, the one that it replaces, and the path of that one. */
const NEW = 'new';
const OLD = 'old';
const TARGET = 'target';

/** A directory for a new install, on the same disk as its target, so that moving it is one step. */
export class StagingDirectory {
  /** Empty at first; all of it is moved. */
  readonly directory: string;
  readonly #base: string;
  readonly #pluginsDirectory: string;
  readonly #createdDirectories: readonly string[];

  constructor(pluginsDirectory: string, now: number) {
    const name = `${now}-${process.pid}-${randomBytes(4).toString('hex')}`;
    this.#pluginsDirectory = pluginsDirectory;
    this.#base = path.join(getStagingDirectory(pluginsDirectory), name);
    this.directory = path.join(this.#base, NEW);
    this.#createdDirectories = createMissingDirectories(this.directory);
  }

  /** Moves the install to its target. An existing one is removed only after that has succeeded. */
  moveTo(target: string): void {
    createMissingDirectories(path.dirname(target));
    if (existsSync(target)) this.#replace(target);
    else tryWrite(() => renameSync(this.directory, target), target);
  }

  /** Records the old path first, so that the next install can restore the old one if this process is killed. */
  #replace(target: string): void {
    const old = path.join(this.#base, OLD);
    const where = path.relative(getInstallDirectory(this.#pluginsDirectory), target);
    tryWrite(() => writeFileSync(path.join(this.#base, TARGET), where), target);
    tryWrite(() => renameSync(target, old), target);
    try {
      renameSync(this.directory, target);
    } catch (error) {
      // When another process has installed meanwhile, its install stays.
      if (!existsSync(target)) renameSync(old, target);
      throw createUnwritableError(target, error);
    }
  }

  /** Removes the staging directory. */
  close(): void {
    rmSync(this.#base, { recursive: true, force: true });
    removeIfEmpty(getStagingDirectory(this.#pluginsDirectory));
    removeIfEmpty(getInstallDirectory(this.#pluginsDirectory));
    for (const each of this.#createdDirectories) removeIfEmpty(each);
  }
}

/**
 * Returns the directories that did not exist before, the last first. Creates one level at a time, because
 * a recursive mkdir of Node.js 20 never returns for some paths.
 */
function createMissingDirectories(directory: string): readonly string[] {
  if (isDirectory(directory)) return [];
  const above =
    path.dirname(directory) === directory ? [] : createMissingDirectories(path.dirname(directory));
  tryWrite(() => createDirectory(directory), directory);
  return [directory, ...above];
}

function createDirectory(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (getErrorCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error;
  }
}

function tryWrite(work: () => void, where: string): void {
  try {
    work();
  } catch (error) {
    throw createUnwritableError(where, error);
  }
}

function createUnwritableError(where: string, error: unknown) {
  const isTaken = getErrorCode(error) === 'ENOTEMPTY' || getErrorCode(error) === 'EEXIST';
  const why = isTaken ? 'something else was installed there just now' : getErrorMessage(error);
  return createInstallError(
    `${where} cannot be written: ${why}`,
    'Check the rights and the space on the disk.',
  );
}

/** The rest of an install that was interrupted. */
export interface Leftover {
  readonly directory: string;
  /** The install that was moved away and not replaced; null when nothing is missing. */
  readonly missing: string | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Finds staging directories whose process has exited. */
export function findLeftovers(pluginsDirectory: string, now: number): readonly Leftover[] {
  const parent = getStagingDirectory(pluginsDirectory);
  return listNames(parent)
    .filter((name) => !isAtWork(name, now))
    .map((name) => ({
      directory: path.join(parent, name),
      missing: findMissingTarget(path.join(parent, name), pluginsDirectory),
    }));
}

/** Removes what interrupted installs left behind, and restores installs that were moved away. */
export function removeLeftovers(pluginsDirectory: string, now: number): readonly Leftover[] {
  const leftovers = findLeftovers(pluginsDirectory, now);
  for (const { directory, missing } of leftovers) {
    if (missing !== null) tryWrite(() => renameSync(path.join(directory, OLD), missing), missing);
    tryWrite(() => rmSync(directory, { recursive: true, force: true }), directory);
  }
  if (leftovers.length > 0) removeIfEmpty(getStagingDirectory(pluginsDirectory));
  return leftovers;
}

function findMissingTarget(place: string, pluginsDirectory: string): string | null {
  if (!existsSync(path.join(place, OLD))) return null;
  const where = readIfPresent(path.join(place, TARGET));
  // A name from a file must not lead out of the plugins directory.
  if (where === null || !/^\w+(?:[\\/][\w.-]+){1,2}$/u.test(where) || where.includes('..')) {
    return null;
  }
  const target = path.join(getInstallDirectory(pluginsDirectory), where);
  return existsSync(target) ? null : target;
}

/** The name contains the process id; after a day, the id may belong to another process. */
function isAtWork(name: string, now: number): boolean {
  const [, startedAt, pid] = /^(\d+)-(\d+)-[\da-f]+$/u.exec(name) ?? [];
  if (startedAt === undefined || pid === undefined) return false;
  return now - Number(startedAt) < DAY_MS && isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists.
    return getErrorCode(error) === 'EPERM';
  }
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw error;
  }
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Without the recorded path, nothing can be restored.
    return null;
  }
}

/** Returns whether it was removed; a directory that others use stays. */
export function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return false;
  }
}
