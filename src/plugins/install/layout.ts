import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isNotFoundError } from '../../base/files.ts';
import { keyOfSource, type Source } from './source/source.ts';

/** Where a directory of plugins keeps what was installed into it; Cline lays it out the same way. */
export function installedDirectory(pluginsDirectory: string): string {
  return path.join(pluginsDirectory, '_installed');
}

/** Where installs are made before they are moved into place. Its dot keeps it from being discovered. */
export function stagingDirectory(pluginsDirectory: string): string {
  return path.join(installedDirectory(pluginsDirectory), '.tmp');
}

/** The directory that a source is installed into. */
export function installPlace(pluginsDirectory: string, source: Source): string {
  const hash = createHash('sha256').update(keyOfSource(source)).digest('hex').slice(0, 12);
  const name = `${directoryName(nameOfSource(source))}-${hash}`;
  const host = source.kind === 'git' ? [directoryName(source.host)] : [];
  return path.join(installedDirectory(pluginsDirectory), source.kind, ...host, name);
}

function nameOfSource(source: Source): string {
  switch (source.kind) {
    case 'local':
      return withoutEnding(path.basename(source.path));
    case 'remote':
      return withoutEnding(source.file);
    case 'npm':
    case 'git':
      return source.name;
    case 'official':
      return source.slug;
  }
}

function withoutEnding(name: string): string {
  return name.replace(/\.(?:m?[tj]s|tgz|tar\.gz)$/iu, '');
}

const LONGEST_NAME = 60;

/** A name that is one on every file system, and never hidden. */
function directoryName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z\d._-]+/gu, '-')
    .replaceAll(/^[.-]+|[.-]+$/gu, '')
    .slice(0, LONGEST_NAME);
  return plain === '' ? 'plugin' : plain;
}

const INSTALL_NAME = /^(?<name>.+)-[\da-f]{12}$/u;

/** The name of an install's directory without the mark that tells sources apart; null for others. */
export function nameWithoutMark(directory: string): string | null {
  return INSTALL_NAME.exec(directory)?.groups?.['name'] ?? null;
}

/** Every directory that something was installed into, also by Cline itself. */
export function installPlaces(pluginsDirectory: string): readonly string[] {
  const installed = installedDirectory(pluginsDirectory);
  return subdirectories(installed).flatMap((kind) => {
    const places = subdirectories(kind);
    if (path.basename(kind) !== 'git') return places.filter(isInstall);
    return [...places.filter(isInstall), ...places.flatMap(subdirectories).filter(isInstall)];
  });
}

function isInstall(directory: string): boolean {
  return nameWithoutMark(path.basename(directory)) !== null;
}

function subdirectories(directory: string): readonly string[] {
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
