import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { getDefaultDirectory, getSpareDirectory, listNamedDirectories } from './fallback-file.ts';

/** Where files of events may be. */
export interface ImportMachine {
  readonly home: string | null;
  readonly stateDirectory: string;
}

/** Directories of older clients of the same files. */
const OLDER_DIRECTORIES = [
  ['.a24z', 'hooks'],
  ['.principle', 'hooks'],
] as const;

/** Whether there is anything to import; looking costs a command far less than loading what imports it. */
export function hasWaitingEvents(machine: ImportMachine): boolean {
  return listDirectories(machine).some((directory) =>
    listFiles(directory).some(({ file }) => listWaitingFiles(file).length > 0 || !isEmpty(file)),
  );
}

export function listDirectories({ home, stateDirectory }: ImportMachine): readonly string[] {
  const inHome =
    home === null
      ? []
      : [...OLDER_DIRECTORIES.map((names) => path.join(home, ...names)), getDefaultDirectory(home)];
  const named = listNamedDirectories(stateDirectory);
  return [...new Set([...inHome, ...named, getSpareDirectory(stateDirectory)])];
}

const EVENTS_FILE = /^([a-z][a-z0-9-]*)-hook-events(?:\.part-.+)?\.json$/;

/** The files of a directory by their agents, each once, whether it exists or only parts of it wait. */
export function listFiles(
  directory: string,
): readonly { readonly agent: string; readonly file: string }[] {
  const agents = readNames(directory).flatMap((name) => EVENTS_FILE.exec(name)?.[1] ?? []);
  return [...new Set(agents)].map((agent) => ({
    agent,
    file: path.join(directory, `${agent}-hook-events.json`),
  }));
}

export function readNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    // Most of these directories do not exist.
    return [];
  }
}

const EMPTY_ARRAY_BYTES = 8;

/** Whether there is no such file, or no event in it. */
export function isEmpty(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (!stats.isFile() || stats.size > EMPTY_ARRAY_BYTES) return false;
  return /^(?:\[\s*\])?\s*$/.test(readFileSync(file, 'latin1'));
}

export function listWaitingFiles(file: string): readonly string[] {
  const prefix = `${path.basename(file, '.json')}.part-`;
  const directory = path.dirname(file);
  return readNames(directory)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
    .map((name) => path.join(directory, name));
}
