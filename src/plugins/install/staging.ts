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

/** Holds, in this order: what is being made, what it takes the place of, and where that was. */
const NEW = 'new';
const OLD = 'old';
const TARGET = 'target';

/** A place to make an install in, beside where it will lie, so that moving it is one step. */
export class Staging {
  /** Empty at first; all of it is moved. */
  readonly directory: string;
  readonly #place: string;
  readonly #pluginsDirectory: string;
  readonly #createdDirectories: readonly string[];

  constructor(pluginsDirectory: string, now: number) {
    const name = `${now}-${process.pid}-${randomBytes(4).toString('hex')}`;
    this.#pluginsDirectory = pluginsDirectory;
    this.#place = path.join(getStagingDirectory(pluginsDirectory), name);
    this.directory = path.join(this.#place, NEW);
    this.#createdDirectories = makeDirectory(this.directory);
  }

  /** Moves it into place. What was there stays until that has worked. */
  moveTo(target: string): void {
    makeDirectory(path.dirname(target));
    if (existsSync(target)) this.#replace(target);
    else tryWrite(() => renameSync(this.directory, target), target);
  }

  /** Written down first, so that the next install can put the old one back if this process is killed. */
  #replace(target: string): void {
    const old = path.join(this.#place, OLD);
    const where = path.relative(getInstallDirectory(this.#pluginsDirectory), target);
    tryWrite(() => writeFileSync(path.join(this.#place, TARGET), where), target);
    tryWrite(() => renameSync(target, old), target);
    try {
      renameSync(this.directory, target);
    } catch (error) {
      // Where another install was faster, its work stays.
      if (!existsSync(target)) renameSync(old, target);
      throw createUnwritableError(target, error);
    }
  }

  /** Removes what was not moved. */
  close(): void {
    rmSync(this.#place, { recursive: true, force: true });
    removeIfEmpty(getStagingDirectory(this.#pluginsDirectory));
    removeIfEmpty(getInstallDirectory(this.#pluginsDirectory));
    for (const each of this.#createdDirectories) removeIfEmpty(each);
  }
}

/**
 * Those that were not there before, the last first. One level after the other: asked for all at once,
 * Node.js 20 never comes back from some places.
 */
function makeDirectory(directory: string): readonly string[] {
  if (isDirectory(directory)) return [];
  const above = path.dirname(directory) === directory ? [] : makeDirectory(path.dirname(directory));
  tryWrite(() => createDirectory(directory), directory);
  return [directory, ...above];
}

function createDirectory(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process may have been faster.
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

/** What an install left behind that did not come to its end. */
export interface Leftover {
  readonly directory: string;
  /** What it was about to replace and nothing has replaced; null when nothing is missing. */
  readonly missing: string | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Those that nobody is at work on any more. */
export function findLeftovers(pluginsDirectory: string, now: number): readonly Leftover[] {
  const parent = getStagingDirectory(pluginsDirectory);
  return listNames(parent)
    .filter((name) => !isAtWork(name, now))
    .map((name) => ({
      directory: path.join(parent, name),
      missing: createMissingTargetError(path.join(parent, name), pluginsDirectory),
    }));
}

/** Removes what earlier installs left behind; one that was about to be replaced is put back. */
export function removeLeftovers(pluginsDirectory: string, now: number): readonly Leftover[] {
  const leftovers = findLeftovers(pluginsDirectory, now);
  for (const { directory, missing } of leftovers) {
    if (missing !== null) tryWrite(() => renameSync(path.join(directory, OLD), missing), missing);
    tryWrite(() => rmSync(directory, { recursive: true, force: true }), directory);
  }
  if (leftovers.length > 0) removeIfEmpty(getStagingDirectory(pluginsDirectory));
  return leftovers;
}

function createMissingTargetError(place: string, pluginsDirectory: string): string | null {
  if (!existsSync(path.join(place, OLD))) return null;
  const where = readIfPresent(path.join(place, TARGET));
  // A name from a file must not lead out of the place that is looked after here.
  if (where === null || !/^\w+(?:[\\/][\w.-]+){1,2}$/u.test(where) || where.includes('..')) {
    return null;
  }
  const target = path.join(getInstallDirectory(pluginsDirectory), where);
  return existsSync(target) ? null : target;
}

/** Its name says whose it is; a process of the same number a day later is another one. */
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
    // Whoever may not be signalled is there.
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
    // Without it nobody knows what was replaced, so that nothing can be put back.
    return null;
  }
}

/** Says whether it was; a directory that others use stays. */
export function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return false;
  }
}
