import {
  copyFileSync,
  statSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../../base/errors.ts';
import { isNotFoundError } from '../../../base/files.ts';
import { findPluginModulesAt } from '../../find/find-modules.ts';
import { createInstallError, type LocalSource } from '../source.ts';
import { PLUGIN_FILE } from '../parse-address.ts';
import { type Fetched, PACKAGE, UNMARKED, type InstallTools } from './tools.ts';
import { fetchTarball } from './npm.ts';
import { findPathInside, findRealPath, resolveRealPath } from '../../../base/paths.ts';

/**
 * Copies a directory or a file of this machine, or has npm unpack a tarball. `except` are directories that
 * are not copied: the plugins directory may be below the source.
 */
export async function fetchLocal(
  source: LocalSource,
  staging: string,
  except: readonly string[],
  tools: InstallTools,
): Promise<Fetched> {
  const from = source.path;
  const name = path.basename(from);
  if (isDirectoryAt(from)) {
    refuseWithoutPlugin(from);
    tools.onProgress(`copying ${from} …`);
    copyTree(from, path.join(staging, PACKAGE), except);
    return { path: PACKAGE, isFile: false, name, ...UNMARKED, hasPackages: false };
  }
  if (/\.(?:tgz|tar\.gz)$/iu.test(name)) return fetchTarball(from, staging, tools);
  if (!PLUGIN_FILE.test(name)) throw createNoPluginError(from);
  copyFileSync(from, path.join(staging, name));
  return { path: name, isFile: true, name, ...UNMARKED, hasPackages: false };
}

function isDirectoryAt(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch (error) {
    const why = isNotFoundError(error) ? 'not found' : getErrorMessage(error);
    throw createInstallError(
      `${place} cannot be installed: ${why}`,
      'A package of the registry is named npm:NAME or @scope/name, a repository with --git.',
    );
  }
}

/** Checked before anything is copied, because the directory may be a whole disk. */
function refuseWithoutPlugin(directory: string): void {
  const { entries, problems } = findPluginModulesAt(directory);
  if (entries.length > 0 && problems.length === 0) return;
  throw createInstallError(
    problems.map(({ message }) => message).join('; ') || `no plugin found in ${directory}`,
  );
}

function createNoPluginError(file: string) {
  return createInstallError(
    `${file} is not a plugin: expected a directory, a .ts, .mts, .js or .mjs file, or a .tgz`,
    'Pass the plugin’s own file or directory.',
  );
}

const MAX_FILES = 20_000;
const MAX_BYTES = 500 * 1024 * 1024;

/** Not part of a plugin; `.npmrc` could name programs for npm to run. */
const LEFT_BEHIND: readonly string[] = ['.git', 'node_modules', '.npmrc'];

/** Copies a plugin's directory. Throws for a link that leads out of it, and when it is too large for a plugin. */
function copyTree(from: string, to: string, except: readonly string[]): void {
  const real = except.map((place) => findRealPath(place) ?? place);
  try {
    new TreeCopy(resolveRealPath(from), to, real).copyDirectory('');
  } catch (error) {
    if (error instanceof Error && !('syscall' in error)) throw error;
    throw createInstallError(`${from} cannot be copied: ${getErrorMessage(error)}`);
  }
}

class TreeCopy {
  /** The real path of the source. */
  readonly #root: string;
  readonly #to: string;
  readonly #except: readonly string[];
  #files = 0;
  #bytes = 0;

  constructor(root: string, to: string, except: readonly string[]) {
    this.#root = root;
    this.#to = to;
    this.#except = except;
  }

  copyDirectory(within: string): void {
    const directory = path.join(this.#root, within);
    if (this.#except.includes(directory)) return;
    mkdirSync(path.join(this.#to, within), { recursive: true });
    for (const item of readdirSync(directory, { withFileTypes: true })) {
      if (!LEFT_BEHIND.includes(item.name)) this.#copyItem(path.join(within, item.name), item);
    }
  }

  #copyItem(name: string, item: Dirent): void {
    if (item.isDirectory()) this.copyDirectory(name);
    else if (item.isSymbolicLink()) this.#copyLink(name);
    else if (item.isFile()) this.#copyFile(name);
  }

  #copyFile(name: string): void {
    const file = path.join(this.#root, name);
    this.#files += 1;
    this.#bytes += lstatSync(file).size;
    if (this.#files > MAX_FILES || this.#bytes > MAX_BYTES) {
      throw createInstallError(
        `${this.#root} holds more than a plugin would: over ${MAX_FILES} files or ${MAX_BYTES / 1024 / 1024} MiB`,
        'Pass the plugin’s own directory.',
      );
    }
    copyFileSync(file, path.join(this.#to, name), constants.COPYFILE_EXCL);
  }

  /** A link within the directory is recreated in the copy. */
  #copyLink(name: string): void {
    const target = findRealPath(path.join(this.#root, name));
    if (target === null) return;
    const inside = findPathInside(this.#root, target);
    if (inside === null) {
      throw createInstallError(
        `${JSON.stringify(name)} is a link that leads out of the plugin, to ${JSON.stringify(target)}`,
        'A plugin may link only to files of its own. Put the file itself there.',
      );
    }
    if (inside.split(path.sep).some((part) => LEFT_BEHIND.includes(part))) return;
    const link = path.join(this.#to, name);
    symlinkSync(path.relative(path.dirname(link), path.join(this.#to, inside)) || '.', link);
  }
}
