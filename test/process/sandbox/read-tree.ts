import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/** What these names in a directory are, with all that is in them. */
export function readTree(
  directory: string,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => listEntries(path.join(directory, name)).map((each) => describe(each))),
  );
}

function listEntries(file: string): readonly string[] {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return [file];
  return [file, ...readdirSync(file).flatMap((name) => listEntries(path.join(file, name)))];
}

function describe(file: string): [string, string] {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return [file, 'absent'];
  if (stats.isSymbolicLink()) return [file, `link to ${readlinkSync(file)}`];
  if (stats.isDirectory()) return [file, 'directory'];
  return [file, stats.isFile() ? `file ${readFileSync(file, 'utf8')}` : 'special'];
}
