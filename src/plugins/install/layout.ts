import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isNotFoundError } from '../../base/files.ts';
import { getSourceKey, type Source } from './source.ts';

/** The directory of installs below a plugins directory; Cline uses the same layout. */
export function getInstallDirectory(pluginsDirectory: string): string {
  return path.join(pluginsDirectory, '_installed');
}

/** The directory in which installs are staged before they are moved. Its dot keeps it from being discovered. */
export function getStagingDirectory(pluginsDirectory: string): string {
  return path.join(getInstallDirectory(pluginsDirectory), '.tmp');
}

/** The directory for the install of a source. */
export function getInstallPath(pluginsDirectory: string, source: Source): string {
  const hash = createHash('sha256').update(getSourceKey(source)).digest('hex').slice(0, 12);
  const name = `${toDirectoryName(getSourceName(source))}-${hash}`;
  const host = source.kind === 'git' ? [toDirectoryName(source.host)] : [];
  return path.join(getInstallDirectory(pluginsDirectory), source.kind, ...host, name);
}

function getSourceName(source: Source): string {
  switch (source.kind) {
    case 'local':
      return removeExtension(path.basename(source.path));
    case 'remote':
      return removeExtension(source.file);
    case 'npm':
    case 'git':
      return source.name;
    case 'official':
      return source.slug;
  }
}

function removeExtension(name: string): string {
  return name.replace(/\.(?:m?[tj]s|tgz|tar\.gz)$/iu, '');
}

const LONGEST_NAME = 60;

/** A name that is valid on every file system, and never hidden. */
function toDirectoryName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z\d._-]+/gu, '-')
    .replaceAll(/^[.-]+|[.-]+$/gu, '')
    .slice(0, LONGEST_NAME);
  return plain === '' ? 'plugin' : plain;
}

const INSTALL_NAME = /^(?<name>.+)-[\da-f]{12}$/u;

/** The name of an install's directory without its hash; null for others. */
export function removeHashMark(directory: string): string | null {
  return INSTALL_NAME.exec(directory)?.groups?.['name'] ?? null;
}

/** Lists every directory with an install, including those of Cline. */
export function listInstallPaths(pluginsDirectory: string): readonly string[] {
  const installed = getInstallDirectory(pluginsDirectory);
  return listSubdirectories(installed).flatMap((kind) => {
    const places = listSubdirectories(kind);
    if (path.basename(kind) !== 'git') return places.filter(isInstall);
    return [...places.filter(isInstall), ...places.flatMap(listSubdirectories).filter(isInstall)];
  });
}

function isInstall(directory: string): boolean {
  return removeHashMark(path.basename(directory)) !== null;
}

function listSubdirectories(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((item) => item.isDirectory() && !item.name.startsWith('.'))
      .map((item) => path.join(directory, item.name))
      .toSorted();
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw error;
  }
}
