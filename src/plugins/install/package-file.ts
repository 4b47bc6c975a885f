import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { readTextIfPresent } from '../../base/files.ts';
import { isRecord, parseJson, getTypeName } from '../../base/json.ts';
import { createInstallError } from './source.ts';

export type PackageFile = Readonly<Record<string, unknown>>;

/** Reads a directory's package.json; null when there is none. Throws when it is no JSON object. */
export function readPackageFile(directory: string): PackageFile | null {
  const text = readText(path.join(directory, 'package.json'));
  if (text === null) return null;
  const parsed = parseJson(text);
  if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  const found = parsed.ok ? getTypeName(parsed.value) : parsed.error;
  throw createInstallError(
    `the plugin’s package.json should be a JSON object: ${found}`,
    'Its author has to fix it.',
  );
}

function readText(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch (error) {
    throw createInstallError(`the plugin’s package.json cannot be read: ${getErrorMessage(error)}`);
  }
}

export function writePackageFile(directory: string, content: PackageFile): void {
  writeFileSync(path.join(directory, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
}

export function readTextField(file: PackageFile | null, key: string): string | null {
  const value = file?.[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

const DEPENDENCY_FIELDS = [
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
];

/**
 * Removes `@cline/*`, which the host provides, and devDependencies, which an install does not need. npm
 * would look all of them up, also those that it does not install.
 */
export function omitHostPackages(content: PackageFile): PackageFile {
  const { devDependencies: _, ...rest } = content;
  const cleaned = DEPENDENCY_FIELDS.filter((field) => isRecord(rest[field])).map(
    (field): [string, unknown] => [field, omitHost(rest[field])],
  );
  return { ...rest, ...Object.fromEntries(cleaned), ...omitBundledHost(rest) };
}

function omitHost(dependencies: unknown): Record<string, unknown> {
  const all = isRecord(dependencies) ? Object.entries(dependencies) : [];
  return Object.fromEntries(all.filter(([name]) => !isHostPackage(name)));
}

function omitBundledHost(content: PackageFile): PackageFile {
  const cleaned: Record<string, unknown> = {};
  for (const field of ['bundleDependencies', 'bundledDependencies']) {
    const names = content[field];
    if (Array.isArray(names)) cleaned[field] = names.filter((name) => !isHostPackage(String(name)));
  }
  return cleaned;
}

function isHostPackage(name: string): boolean {
  return /^@cline(?:bot)?\//u.test(name);
}

/** Whether npm has anything to install for it. */
export function hasDependencies(content: PackageFile): boolean {
  return ['dependencies', 'optionalDependencies'].some((field) => {
    const dependencies = content[field];
    return isRecord(dependencies) && Object.keys(dependencies).length > 0;
  });
}
