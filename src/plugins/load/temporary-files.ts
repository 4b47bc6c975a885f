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
import type { Translation } from './cache.ts';

let temporary: string | undefined;

/** A directory of this process only, gone when it ends; a real path. */
export function temporaryDirectory(): string {
  if (temporary !== undefined) return temporary;
  removeThoseOfTheDead();
  const start = path.join(os.tmpdir(), `${NAME}${process.pid}-`);
  const directory = realpathSync(mkdtempSync(start));
  process.once('exit', () => void removeDirectory(directory));
  temporary = directory;
  return directory;
}

const NAME = 'hookline-plugins-';

/** A process that is killed leaves its own behind. */
function removeThoseOfTheDead(): void {
  const directory = os.tmpdir();
  for (const name of readdirSync(directory)) {
    const pid = Number.parseInt(name.slice(NAME.length), 10);
    const isOfTheDead = name.startsWith(NAME) && pid > 0 && !isAlive(pid);
    if (isOfTheDead) removeDirectory(path.join(directory, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return getErrorCode(error) !== 'ESRCH';
  }
}

/** False when it may not be removed, as those of others. */
export function removeDirectory(directory: string): boolean {
  try {
    rmSync(directory, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

/** The same files once more, in a directory of their own. */
export function linkCopy({ directory, modules }: Translation, number: number): string {
  const place = path.join(temporaryDirectory(), `${path.basename(directory)}-${number}`);
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
    // Another disk, or one that knows no links.
    copyFileSync(from, to);
  }
}
