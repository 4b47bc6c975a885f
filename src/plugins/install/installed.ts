import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import { findPluginModules, findPluginModulesAt } from '../find/find-modules.ts';
import type { FoundEntry } from '../find/read-package.ts';
import { hasOwnName } from '../find/module-text.ts';
import { type PluginsPlace, refuseWayOut } from './install.ts';
import { listInstallPaths, removeHashMark, getInstallDirectory } from './layout.ts';
import { type PackageFile, readPackageFile, readTextField } from './package-file.ts';
import { type InstallRecord, readRecord } from './record.ts';
import { rmSync } from 'node:fs';
import { getErrorMessage } from '../../base/errors.ts';
import { createInstallError } from './source.ts';
import { removeIfEmpty } from './staging-directory.ts';

/** A plugin in a plugins directory: one install, one package, or one file that the user copied there. */
export interface InstalledPlugin {
  readonly place: PluginsPlace;
  /** What is removed with it: its directory, or its file. */
  readonly path: string;
  /** The main name. */
  readonly name: string;
  /** All names that match it. */
  readonly names: readonly string[];
  readonly entryPaths: readonly string[];
  /** Null when it was copied there, or installed by another program. */
  readonly record: InstallRecord | null;
  readonly isDroppedIn: boolean;
}

/** Lists all plugins of a plugins directory, including those that cannot be loaded. */
export function listInstalled(place: PluginsPlace): readonly InstalledPlugin[] {
  const installs = listInstallPaths(place.directory).map((each) => readInstall(each, place));
  return [...installs, ...listDropped(place)];
}

function readInstall(directory: string, place: PluginsPlace): InstalledPlugin {
  const record = readRecord(directory);
  const { entries } = findPluginModulesAt(directory);
  const base = path.basename(directory);
  const short = removeHashMark(base) ?? base;
  const name = record?.name ?? entries[0]?.label ?? short;
  return {
    place,
    path: directory,
    name,
    names: removeDuplicates([
      name,
      base,
      short,
      ...entries.flatMap(listEntryNames),
      ...entries.flatMap((entry) => listPackageNames(entry.path, directory)),
    ]),
    entryPaths: entries.map((entry) => entry.path),
    record,
    isDroppedIn: false,
  };
}

/** The names of the packages between an entry and the directory of its install. */
function listPackageNames(file: string, directory: string): readonly string[] {
  const names: string[] = [];
  for (let at = path.dirname(file); isInside(directory, at); at = path.dirname(at)) {
    const name = readTextField(readPackageQuietly(at), 'name');
    if (name !== null) names.push(name);
    if (at === directory) break;
  }
  return names;
}

/** A broken package is listed, and can be removed, too. */
function readPackageQuietly(directory: string): PackageFile | null {
  try {
    return readPackageFile(directory);
  } catch {
    return null;
  }
}

/** Several entries of one package count as one plugin. */
function listDropped(place: PluginsPlace): readonly InstalledPlugin[] {
  const installed = getInstallDirectory(place.directory);
  const entries = findPluginModules(place.directory).entries.filter(
    (entry) => !isInside(installed, entry.path),
  );
  const findPath = (entry: FoundEntry): string => getDroppedPath(entry, place.directory);
  return removeDuplicates(entries.map(findPath)).map((file) => {
    const members = entries.filter((entry) => findPath(entry) === file);
    const name = members[0]?.label ?? path.basename(file);
    return {
      place,
      path: file,
      name,
      names: removeDuplicates([name, path.basename(file), ...members.flatMap(listEntryNames)]),
      entryPaths: members.map((entry) => entry.path),
      record: null,
      isDroppedIn: true,
    };
  });
}

function getDroppedPath(entry: FoundEntry, directory: string): string {
  const owner = entry.package?.directory ?? null;
  const real = findRealPath(directory) ?? directory;
  // A package that contains the whole plugins directory is not a plugin in it.
  if (owner === null || owner === real || !isInside(real, owner)) return entry.path;
  return path.join(directory, path.relative(real, owner));
}

function listEntryNames({ path: file, label, package: owner }: FoundEntry): readonly string[] {
  const base = path.basename(file);
  return [label, base, base.replace(/\.m?[tj]s$/iu, ''), ...(owner === null ? [] : [owner.name])];
}

function removeDuplicates(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== ''))];
}

/** Finds plugins by name or path, ignoring case. */
export function matchInstalled(
  all: readonly InstalledPlugin[],
  nameOrPath: string,
  cwd: string,
): readonly InstalledPlugin[] {
  const low = nameOrPath.toLowerCase();
  const file = path.resolve(cwd, nameOrPath);
  const isThere = (each: InstalledPlugin): boolean =>
    each.path === file || each.entryPaths.includes(file);
  const byPath = all.filter(isThere);
  if (byPath.length > 0) return byPath;
  const namesakes = all.filter(({ names }) => names.some((name) => name.toLowerCase() === low));
  if (namesakes.length > 0) return namesakes;
  return all.filter(({ entryPaths }) => entryPaths.some((entry) => hasOwnName(entry, nameOrPath)));
}

/** Removes a plugin, and directories that are empty afterwards. */
export function removeInstalled({ path: target, place }: InstalledPlugin): void {
  refuseWayOut(place);
  refuseThroughLink(target, place.directory);
  try {
    rmSync(target, { recursive: true });
  } catch (error) {
    throw createInstallError(
      `${target} cannot be removed: ${getErrorMessage(error)}`,
      'Check the rights of its directory.',
    );
  }
  let parent = path.dirname(target);
  while (parent !== place.directory && isInside(place.directory, parent)) {
    if (!removeIfEmpty(parent)) return;
    parent = path.dirname(parent);
  }
}

/** Refuses to remove files through a link, because its target is not part of the plugins directory. */
function refuseThroughLink(target: string, directory: string): void {
  const real = findRealPath(path.dirname(target));
  if (real !== null && isInside(findRealPath(directory) ?? directory, real)) return;
  throw createInstallError(
    `${target} is reached through a link, and lies in ${real ?? 'nothing'}`,
    'Delete the link yourself, or the file where it lies.',
  );
}
