import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, tryOrNull } from '../base/errors.ts';
import { readTextIfPresent, replacePrivateFileSync } from '../base/files.ts';
import { isRecord, parseJson } from '../base/json.ts';
import type { InstallScope } from '../dialects/install.ts';

/** An agent, and whose settings of it. */
export interface InstallTarget {
  readonly agent: string;
  readonly scope: InstallScope;
  /** Null in the scope of the user. */
  readonly project: string | null;
}

/** A file that was changed, and what is needed to undo it byte for byte. */
export interface InstalledFile {
  readonly path: string;
  /** Where the path led. */
  readonly target: string;
  /** The content that was there; null when there was no file. */
  readonly before: { readonly sha256: string; readonly backup: string } | null;
  /** The content that was written; null when the file was removed. */
  readonly after: string | null;
  readonly mode: number;
  /** The directories that were created for it, the outermost first. */
  readonly directories: readonly string[];
}

export interface Installation extends InstallTarget {
  /** When it was installed, in milliseconds. */
  readonly at: number;
  readonly files: readonly InstalledFile[];
}

/** What the installed script was made of. */
export interface InstalledScript {
  readonly sha256: string;
  /** Programs that it starts. */
  readonly programs: readonly string[];
}

/** What was changed in other agents' files: `agents.json` in the state directory. */
export interface InstallRecord {
  readonly script: InstalledScript | null;
  readonly installations: readonly Installation[];
}

const EMPTY: InstallRecord = { script: null, installations: [] };

export function getRecordFile(stateDirectory: string): string {
  return path.join(stateDirectory, 'agents.json');
}

function getBackupDirectory(stateDirectory: string): string {
  return path.join(stateDirectory, 'backups');
}

/** Throws when the record cannot be read: without it nothing can be undone byte for byte. */
export function readInstallRecord(stateDirectory: string): InstallRecord {
  const file = getRecordFile(stateDirectory);
  const text = readTextIfPresent(file);
  if (text === null) return EMPTY;
  const parsed = parseJson(text);
  const value = parsed.ok ? parsed.value : null;
  if (isRecord(value) && value['version'] === 1 && Array.isArray(value['installations'])) {
    const installations: readonly unknown[] = value['installations'];
    const script = value['script'];
    return {
      script: isInstalledScript(script) ? script : null,
      installations: installations.filter(isInstallation),
    };
  }
  throw new HooklineError('CONFIG_INVALID', {
    message: `${file}: expected the record of changed files of version 1, found something else`,
    hint: `Restore it, or remove it; copies of the changed files are in ${getBackupDirectory(stateDirectory)}.`,
  });
}

function isInstalledScript(value: unknown): value is InstalledScript {
  return isRecord(value) && typeof value['sha256'] === 'string' && areTexts(value['programs']);
}

function isInstallation(value: unknown): value is Installation {
  return (
    isRecord(value) &&
    typeof value['agent'] === 'string' &&
    (value['scope'] === 'user' || value['scope'] === 'project') &&
    (value['project'] === null || typeof value['project'] === 'string') &&
    typeof value['at'] === 'number' &&
    Array.isArray(value['files']) &&
    value['files'].every(isInstalledFile)
  );
}

function isInstalledFile(value: unknown): value is InstalledFile {
  return (
    isRecord(value) &&
    typeof value['path'] === 'string' &&
    typeof value['target'] === 'string' &&
    (value['before'] === null || isBackup(value['before'])) &&
    (value['after'] === null || typeof value['after'] === 'string') &&
    typeof value['mode'] === 'number' &&
    areTexts(value['directories'])
  );
}

function isBackup(value: unknown): boolean {
  return (
    isRecord(value) && typeof value['sha256'] === 'string' && typeof value['backup'] === 'string'
  );
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

export function writeInstallRecord(stateDirectory: string, record: InstallRecord): void {
  const file = getRecordFile(stateDirectory);
  if (record.script === null && record.installations.length === 0) rmSync(file, { force: true });
  else replacePrivateFileSync(file, `${JSON.stringify({ version: 1, ...record }, null, 2)}\n`);
}

export function isSameTarget(one: InstallTarget, other: InstallTarget): boolean {
  return one.agent === other.agent && one.scope === other.scope && one.project === other.project;
}

/** Replaces the entry of the same target, or adds one; null removes it. */
export function replaceInstallation(
  { script, installations }: InstallRecord,
  target: InstallTarget,
  installation: Installation | null,
): InstallRecord {
  const others = installations.filter((each) => !isSameTarget(each, target));
  return { script, installations: installation === null ? others : [...others, installation] };
}

export function hashText(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Stores a copy, named after its content, and returns how to find it. */
export function writeBackup(
  stateDirectory: string,
  file: string,
  text: string,
): NonNullable<InstalledFile['before']> {
  const sha256 = hashText(text);
  const backup = `${path.basename(file)}.${sha256.slice(0, 16)}`;
  replacePrivateFileSync(path.join(getBackupDirectory(stateDirectory), backup), text);
  return { sha256, backup };
}

/** The stored copy; null when it is gone or is not what was stored. */
export function readBackup(
  stateDirectory: string,
  { sha256, backup }: NonNullable<InstalledFile['before']>,
): string | null {
  const file = path.join(getBackupDirectory(stateDirectory), path.basename(backup));
  const text = tryOrNull(() => readTextIfPresent(file));
  return text !== null && hashText(text) === sha256 ? text : null;
}

const MAX_OLD_BACKUPS = 20;

/** Removes the oldest copies that no installation needs. */
export function pruneBackups(stateDirectory: string, { installations }: InstallRecord): void {
  const needed = new Set(
    installations.flatMap(({ files }) => files.flatMap(({ before }) => before?.backup ?? [])),
  );
  const directory = getBackupDirectory(stateDirectory);
  const old = (tryOrNull(() => readdirSync(directory)) ?? [])
    .filter((name) => !needed.has(name))
    .map((name) => ({ name, time: tryOrNull(() => statSync(path.join(directory, name)).mtimeMs) }))
    .toSorted((one, other) => (other.time ?? 0) - (one.time ?? 0));
  for (const { name } of old.slice(MAX_OLD_BACKUPS)) {
    rmSync(path.join(directory, name), { force: true });
  }
}
