import { type Dirent, readdirSync } from 'node:fs';
import path from 'node:path';
import { type HooklineError, getErrorMessage } from '../base/errors.ts';
import { isNotFoundError, readTextIfPresent } from '../base/files.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import { createCaseError, type CaseFields, parseCase } from './case-fields.ts';

/** The directories of a self-contained case. */
export interface OwnDirectories {
  /** Directories that become workspace roots, sorted by name; none means an empty workspace. */
  readonly roots: readonly { readonly name: string; readonly path: string }[];
  /** Becomes HOME; null means an empty one. */
  readonly home: string | null;
}

/** An event, the hooks that it is fired at, and the expected verdict. */
export interface HookCase extends CaseFields {
  readonly directory: string;
  readonly name: string;
  /** Null when the case is about the hooks of the workspace in which it is run. */
  readonly own: OwnDirectories | null;
}

export const CASE_FILE = 'case.json';

/** Reads a case directory. Throws CASE_INVALID, naming file and place, for anything malformed. */
export function readCase(directory: string): HookCase {
  const file = path.join(directory, CASE_FILE);
  return {
    ...parseCase(readText(file), file),
    directory,
    name: path.basename(directory),
    own: readOwnDirectories(directory),
  };
}

/** Lists every case directory at or below `directory`, sorted; directories inside a case are skipped. */
export function findCases(directory: string): readonly string[] {
  const entries = listNames(directory);
  if (entries.some((entry) => entry.name === CASE_FILE && !entry.isDirectory())) return [directory];
  return entries
    .filter((entry) => entry.isDirectory() && !NOT_SEARCHED.has(entry.name))
    .map((entry) => path.join(directory, entry.name))
    .toSorted()
    .flatMap(findCases);
}

const NOT_SEARCHED = new Set(['node_modules', '.git']);

function listNames(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw createCaseError(directory, `cannot be read: ${getErrorMessage(error)}`);
  }
}

function readText(file: string): string {
  const text = tryRead(file);
  if (text !== null) return text;
  throw createUnreadableError(file, 'file not found');
}

function tryRead(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch (error) {
    throw createUnreadableError(file, getErrorMessage(error));
  }
}

function createUnreadableError(file: string, why: string): HooklineError {
  return createCaseError(file, why, 'A case directory holds a case.json with "fire" and "expect".');
}

const OWN_NAMES = ['workspace', 'roots', 'home'] as const;

/** Throws for any other directory: a misspelt `workspace` would test the wrong hooks. */
export function readOwnDirectories(directory: string): OwnDirectories | null {
  const names = listNames(directory)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  const unknown = names.find((name) => !OWN_NAMES.some((ownName) => ownName === name));
  if (unknown !== undefined) {
    const suggestion = findClosestName(unknown, OWN_NAMES) ?? OWN_NAMES.join(', ');
    throw createCaseError(
      directory,
      `"${unknown}" is not part of a case`,
      `Expected: ${suggestion}.`,
    );
  }
  if (names.includes('workspace') && names.includes('roots')) {
    throw createCaseError(directory, 'it has both "workspace" and "roots"', 'Keep one of them.');
  }
  if (names.length === 0) return null;
  return {
    roots: listRoots(directory, names),
    home: names.includes('home') ? path.join(directory, 'home') : null,
  };
}

function listRoots(directory: string, names: readonly string[]): OwnDirectories['roots'] {
  if (names.includes('workspace')) {
    return [{ name: 'workspace', path: path.join(directory, 'workspace') }];
  }
  const rootsDirectory = path.join(directory, 'roots');
  return listNames(rootsDirectory)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, path: path.join(rootsDirectory, name) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
