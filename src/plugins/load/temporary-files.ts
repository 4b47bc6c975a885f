import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { getErrorCode } from '../../base/errors.ts';
import type { Transpiled } from './cache.ts';

// One for the process, because it is removed when the process exits.
let temporaryDirectory: string | undefined;

/** A directory that is removed when this process ends; a real path. */
export function getTemporaryDirectory(): string {
  if (temporaryDirectory !== undefined) return temporaryDirectory;
  removeLeftovers();
  const start = path.join(os.tmpdir(), `${NAME}${process.pid}-`);
  const directory = realpathSync(mkdtempSync(start));
  process.once('exit', () => void removeDirectory(directory));
  temporaryDirectory = directory;
  return directory;
}

const NAME = 'hookline-plugins-';

/** Removes directories of processes that were killed. */
function removeLeftovers(): void {
  const directory = os.tmpdir();
  for (const name of readdirSync(directory)) {
    const pid = Number.parseInt(name.slice(NAME.length), 10);
    const isLeftover = name.startsWith(NAME) && pid > 0 && !isAlive(pid);
    if (isLeftover) removeDirectory(path.join(directory, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return getErrorCode(error) !== 'ESRCH';
  }
}

/** False when it may not be removed, for example another user's. */
export function removeDirectory(directory: string): boolean {
  try {
    rmSync(directory, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

/** Links or copies the files into another directory. */
export function linkCopy({ directory, modules }: Transpiled, number: number): string {
  const place = path.join(getTemporaryDirectory(), `${path.basename(directory)}-${number}`);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const names = modules.flatMap(({ name }) => [name, `${name}.map`]);
  for (const name of names) linkOrCopy(path.join(directory, name), path.join(place, name));
  return place;
}

function linkOrCopy(from: string, to: string): void {
  rmSync(to, { force: true });
  try {
    linkSync(from, to);
  } catch {
    // Another disk, or a file system without hard links.
    copyFileSync(from, to);
  }
}
