import { readRegularFile } from '../../base/files.ts';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../../base/paths.ts';
import { createInstallError } from './source.ts';
import { type InstallRecord, RECORD_NAME } from './record.ts';

/**
 * Counts and hashes all files of an install except the record; the hash is of sorted names and contents.
 * Throws for a link that leads out of the directory, because its target is no part of the install.
 */
export function describeTree(directory: string) {
  const root = realpathSync(directory);
  const lines: string[] = [];
  let bytes = 0;
  for (const { name, isLink } of walk(root, '')) {
    const file = path.join(root, name);
    if (!isLink) bytes += lstatSync(file).size;
    const content = isLink ? `link:${linkInside(root, name)}` : computeFileHash(file);
    lines.push(JSON.stringify([name, content]));
  }
  const sha256 = createHash('sha256').update(lines.toSorted().join('\n')).digest('hex');
  return { files: lines.length, bytes, sha256 };
}

const MOST_BYTES = 512 * 1024 * 1024;

export function computeFileHash(file: string): string {
  return createHash('sha256').update(readRegularFile(file, MOST_BYTES)).digest('hex');
}

/** Lists the entries that differ from the install, which may be none of them; null when nothing differs. */
export function listChangedFiles(
  directory: string,
  { entries, sha256 }: InstallRecord,
): { readonly entries: readonly string[] } | null {
  if (computeDigest(directory) === sha256) return null;
  const changed = entries.filter(
    (entry) => !isSame(path.join(directory, entry.path), entry.sha256),
  );
  return { entries: changed.map((entry) => entry.path) };
}

/** Null when the files cannot be hashed, for example because of a link out of the directory. */
function computeDigest(directory: string): string | null {
  try {
    return describeTree(directory).sha256;
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

function isSame(file: string, sha256: string): boolean {
  try {
    return computeFileHash(file) === sha256;
  } catch {
    return false;
  }
}

/** Throws for the first link that leads out of the directory. */
export function refuseLinksOut(directory: string): void {
  const root = realpathSync(directory);
  for (const { name, isLink } of walk(root, '')) if (isLink) linkInside(root, name);
}

/** Lists files and links by their names from the root, with `/` on every system. */
function walk(
  root: string,
  within: string,
): readonly { readonly name: string; readonly isLink: boolean }[] {
  return readdirSync(path.join(root, within), { withFileTypes: true }).flatMap((item) => {
    const name = within === '' ? item.name : `${within}/${item.name}`;
    if (item.isDirectory()) return walk(root, name);
    if (name === RECORD_NAME) return [];
    return item.isSymbolicLink() || item.isFile() ? [{ name, isLink: item.isSymbolicLink() }] : [];
  });
}

/** Returns the target of a link, which must be below the root; a dangling link is checked by its text. */
function linkInside(root: string, name: string): string {
  const link = path.join(root, name);
  const written = readlinkSync(link);
  const target = resolveLinkTarget(link) ?? path.resolve(path.dirname(link), written);
  // An absolute link would still lead into the staging directory.
  if (!path.isAbsolute(written) && isInside(root, target)) return written.replaceAll('\\', '/');
  throw createInstallError(
    `${JSON.stringify(name)} is a link that leads out of the plugin, to ${JSON.stringify(written)}`,
    'A plugin may link only to files of its own.',
  );
}

function resolveLinkTarget(link: string): string | null {
  try {
    return realpathSync(link);
  } catch {
    return null;
  }
}
