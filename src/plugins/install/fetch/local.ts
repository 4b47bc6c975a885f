import { copyFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../../base/errors.ts';
import { isNotFoundError } from '../../../base/files.ts';
import { pluginsAt } from '../../find/find-plugins.ts';
import { failed } from '../failure.ts';
import { PLUGIN_FILE } from '../source/file-url.ts';
import type { LocalSource } from '../source/source.ts';
import { copyTree } from './copy-tree.ts';
import { type Fetched, PACKAGE, UNMARKED } from './fetched.ts';
import { fetchTarball } from './npm.ts';
import type { InstallTools } from './tools.ts';

export interface LocalRequest {
  readonly source: LocalSource;
  readonly staging: string;
  /** Directories that are no part of what is copied. */
  readonly except: readonly string[];
}

/** Copies a directory or a file of this machine, or has npm unpack a packed package. */
export async function fetchLocal(
  { source, staging, except }: LocalRequest,
  tools: InstallTools,
): Promise<Fetched> {
  const from = source.path;
  const name = path.basename(from);
  if (isDirectoryAt(from)) {
    refuseWithoutPlugin(from);
    tools.onProgress(`copying ${from} …`);
    copyTree({ from, to: path.join(staging, PACKAGE), except });
    return { path: PACKAGE, isFile: false, name, ...UNMARKED, hasPackages: false };
  }
  if (/\.(?:tgz|tar\.gz)$/iu.test(name)) return fetchTarball(from, staging, tools);
  if (!PLUGIN_FILE.test(name)) throw noPlugin(from);
  copyFileSync(from, path.join(staging, name));
  return { path: name, isFile: true, name, ...UNMARKED, hasPackages: false };
}

function isDirectoryAt(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch (error) {
    const why = isNotFoundError(error) ? 'there is nothing there' : getErrorMessage(error);
    throw failed(
      `${place} cannot be installed: ${why}`,
      'A package of the registry is named npm:NAME or @scope/name, a repository with --git.',
    );
  }
}

/** Before anything is copied: it may be a whole disk. */
function refuseWithoutPlugin(directory: string): void {
  const { entries, problems } = pluginsAt(directory);
  if (entries.length > 0 && problems.length === 0) return;
  throw failed(problems.map(({ message }) => message).join('; ') || `no plugin is in ${directory}`);
}

function noPlugin(file: string) {
  return failed(
    `${file} is no plugin: expected a directory, a .ts, .mts, .js or .mjs file, or a .tgz`,
    'Name the plugin’s own file or directory.',
  );
}
