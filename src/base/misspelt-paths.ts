import { opendirSync, statSync } from 'node:fs';
import path from 'node:path';
import { isMisspelling } from './did-you-mean.ts';
import { tryOrNull } from './errors.ts';
import { isFile } from './files.ts';

/** A place that is looked for, one of whose names may be misspelt. */
export interface ExpectedPath {
  /** The directory below which names may be misspelt. */
  readonly base: string;
  readonly names: readonly string[];
  /** Whether something at another place would count at this one. */
  readonly isMeant: (place: string) => boolean;
}

export interface MisspeltPath {
  readonly path: string;
  /** The path that was probably meant, below the base. */
  readonly meant: string;
}

/** Finds places with one misspelt name. What cannot be read is not found; it never throws. */
export function findMisspeltPaths(expected: readonly ExpectedPath[]): readonly MisspeltPath[] {
  const listings = new Map<string, readonly string[]>();
  const list = (directory: string): readonly string[] => {
    const names = listings.get(directory) ?? listNames(directory);
    listings.set(directory, names);
    return names;
  };
  return expected.flatMap((each) => {
    const meant = path.join(each.base, ...each.names);
    return walkNames(each.base, each.names, list)
      .filter((place) => !isSamePlace(place, meant) && each.isMeant(place))
      .map((place) => ({ path: place, meant: each.names.join('/') }));
  });
}

type List = (directory: string) => readonly string[];

/** Lists the paths that differ from the names in exactly one of them. */
function walkNames(directory: string, names: readonly string[], list: List): readonly string[] {
  const [name, ...others] = names;
  if (name === undefined) return [];
  const slips = list(directory)
    .filter((written) => isMisspelling(written, name))
    .map((written) => path.join(directory, written, ...others));
  const hasName = others.length > 0 && list(directory).includes(name);
  return hasName ? [...slips, ...walkNames(path.join(directory, name), others, list)] : slips;
}

// A workspace may lie in a directory with very many files.
const MAX_NAMES = 2_000;

function listNames(directory: string): readonly string[] {
  const handle = tryOrNull(() => opendirSync(directory));
  if (handle === null) return [];
  const names: string[] = [];
  try {
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
      names.push(entry.name);
      if (names.length >= MAX_NAMES) break;
    }
    return names.toSorted();
  } catch {
    return names;
  } finally {
    handle.closeSync();
  }
}

/** A link to the right file is read, and so is another spelling where case does not matter. */
function isSamePlace(one: string, other: string): boolean {
  const [first, second] = [one, other].map((place) => tryOrNull(() => statSync(place)));
  if (first === null || second === null || first === undefined || second === undefined) {
    return false;
  }
  return first.dev === second.dev && first.ino === second.ino;
}

const OTHER_KINDS = /\.(?:[cm]?[jt]sx?|py|sh|md|txt|ya?ml|toml|lock|log|html?)$/i;

/** Whether a place may be a misspelt settings file: no program and no text. */
export function isSettingsLike(place: string): boolean {
  return isFile(place) && !OTHER_KINDS.test(place);
}
