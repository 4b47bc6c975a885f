import path from 'node:path';
import type { FoundEntry } from '../find/read-package.ts';
import { findPluginModulesAt } from '../find/find-modules.ts';
import { readModuleText, listRelativeImports } from '../find/module-text.ts';
import { createInstallError, type Source } from './source.ts';
import type { Fetched, InstallTools } from './fetch/tools.ts';
import { addDependencies, fetchNpmPackage } from './fetch/npm.ts';
import { readPackageFile, readTextField, writePackageFile } from './package-file.ts';
import { type InstallRecord, writeRecord } from './record.ts';
import { describeTree, computeFileHash } from './tree.ts';
import { getInstallDirectory } from './layout.ts';
import { fetchFile } from './fetch/download.ts';
import { fetchOfficial, fetchRepository } from './fetch/git.ts';
import { fetchLocal } from './fetch/local.ts';

/** A complete install in its staging directory. */
export interface StagedInstall {
  readonly record: InstallRecord;
  /** The capabilities that its package declares; null when it declares none. */
  readonly capabilities: readonly string[] | null;
  readonly files: number;
  readonly bytes: number;
  /** Warnings for the user. */
  readonly warnings: readonly string[];
}

/**
 * Creates an install in a staging directory, with its dependencies and a record, in which `text` is the
 * source. Runs nothing of the plugin.
 */
export async function stageInstall(
  source: Source,
  text: string,
  directory: string,
  pluginsDirectory: string,
  tools: InstallTools,
): Promise<StagedInstall> {
  const fetched = await fetchSource(source, directory, pluginsDirectory, tools);
  const place = path.join(directory, fetched.path);
  const entries = findEntries(place);
  const identity = fetched.isFile ? getFileName(fetched) : getPackageName(fetched, place);
  if (!fetched.isFile) {
    if (!fetched.hasPackages) await addDependencies(place, tools);
    writeWrapper(directory, identity, entries);
  }
  const recorded = entries.map((entry) => recordEntry(directory, entry));
  const { sha256, files, bytes } = describeTree(directory);
  const record: InstallRecord = {
    source: text,
    kind: source.kind,
    ...identity,
    commit: fetched.commit,
    integrity: fetched.integrity,
    sha256,
    entries: recorded,
    installedAt: new Date(tools.now()).toISOString(),
  };
  writeRecord(directory, record);
  const capabilities = listDeclared(entries);
  return {
    record,
    capabilities,
    files,
    bytes,
    warnings: fetched.isFile ? createLeftoverError(place) : [],
  };
}

/** The name and version that the user sees. */
type InstallIdentity = Pick<InstallRecord, 'name' | 'version'>;

function getFileName({ name }: Fetched): InstallIdentity {
  return { name: name.replace(/\.m?[tj]s$/iu, ''), version: null };
}

function getPackageName({ name, version }: Fetched, place: string): InstallIdentity {
  const file = readPackageFile(place);
  return {
    name: readTextField(file, 'name') ?? name,
    version: version ?? readTextField(file, 'version'),
  };
}

/** Throws when one entry is invalid, because a missing plugin would go unnoticed. */
function findEntries(place: string): readonly FoundEntry[] {
  const { entries, problems } = findPluginModulesAt(place);
  const [first] = problems;
  if (first === undefined && entries.length > 0) return entries;
  const staged = `${path.dirname(place)}${path.sep}`;
  const why = problems.map(({ message }) => message.replaceAll(staged, '')).join('; ');
  throw createInstallError(
    `it cannot be installed: ${why === '' ? 'it contains no plugin' : why}`,
    'Its package.json should say { "cline": { "plugins": [{ "paths": ["./index.ts"] }] } }.',
  );
}

/** Writes a package.json that lists the entries, so that other files are not discovered as plugins. */
function writeWrapper(
  directory: string,
  identity: InstallIdentity,
  entries: readonly FoundEntry[],
): void {
  const plugins = entries.map((entry) => ({
    paths: [`./${toPathIn(directory, entry)}`],
    ...(entry.capabilities === null ? {} : { capabilities: entry.capabilities }),
  }));
  const version = identity.version === null ? {} : { version: identity.version };
  writePackageFile(directory, {
    name: identity.name,
    ...version,
    private: true,
    cline: { plugins },
  });
}

function recordEntry(directory: string, entry: FoundEntry): InstallRecord['entries'][number] {
  return { path: toPathIn(directory, entry), sha256: computeFileHash(entry.file) };
}

function toPathIn(directory: string, { path: file }: FoundEntry): string {
  return path.relative(directory, file).replaceAll('\\', '/');
}

/** Null when one of the entries declares nothing. */
function listDeclared(entries: readonly FoundEntry[]): readonly string[] | null {
  const all = entries.map(({ capabilities }) => capabilities);
  return all.includes(null) ? null : [...new Set(all.flatMap((each) => each ?? []))];
}

/** A single file is copied alone, and its relative imports would be missing. */
function createLeftoverError(file: string): readonly string[] {
  const names = listRelativeImports(readModuleText(file) ?? '', file).map((each) =>
    path.basename(each),
  );
  if (names.length === 0) return [];
  return [
    `it imports ${names.join(', ')}, which a single file does not bring along: install its directory instead`,
  ];
}

/** Fetches a source into the staging directory. Runs nothing of it. */
async function fetchSource(
  source: Source,
  staging: string,
  pluginsDirectory: string,
  tools: InstallTools,
): Promise<Fetched> {
  switch (source.kind) {
    case 'local': {
      const except = [getInstallDirectory(pluginsDirectory)];
      return fetchLocal(source, staging, except, tools);
    }
    case 'npm':
      return fetchNpmPackage(source, staging, tools);
    case 'git':
      return fetchRepository(source, staging, tools);
    case 'official':
      return fetchOfficial(source, staging, tools);
    case 'remote':
      return fetchFile(source, staging, tools);
  }
}
