import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readTextIfPresent } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { SourceKind } from './source.ts';

/** What is known of an install: where it came from, and exactly what came. */
export interface InstallRecord {
  /** What `plugin install` would be told to install it again. */
  readonly source: string;
  readonly kind: SourceKind;
  readonly name: string;
  readonly version: string | null;
  /** Of git: the commit that was checked out. */
  readonly commit: string | null;
  /** Of npm: the hash of the tarball that the registry vouches for. */
  readonly integrity: string | null;
  /** Of all files that were installed, by name and bytes. */
  readonly sha256: string;
  readonly entries: readonly {
    /** From the install's directory, with `/` on every system. */
    readonly path: string;
    readonly sha256: string;
  }[];
  /** In ISO 8601. */
  readonly installedAt: string;
}

export const RECORD_NAME = 'hookline-install.json';

export function writeRecord(directory: string, record: InstallRecord): void {
  const text = `${JSON.stringify({ recordVersion: 1, ...record }, null, 2)}\n`;
  writeFileSync(path.join(directory, RECORD_NAME), text);
}

/** The record of an install; null where there is none, as when Cline itself installed it. */
export function readRecord(directory: string): InstallRecord | null {
  const text = readQuietly(path.join(directory, RECORD_NAME));
  const parsed = text === null ? null : parseJson(text);
  return parsed?.ok === true && isInstallRecord(parsed.value) ? parsed.value : null;
}

function readQuietly(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch {
    // What cannot be read is no record that anybody could rely on.
    return null;
  }
}

const KINDS: readonly string[] = ['local', 'npm', 'git', 'remote', 'official'];

function isInstallRecord(value: unknown): value is InstallRecord {
  if (!isRecord(value)) return false;
  const { kind, entries } = value;
  const texts = ['source', 'name', 'sha256', 'installedAt'];
  const optional = ['version', 'commit', 'integrity'];
  return (
    typeof kind === 'string' &&
    KINDS.includes(kind) &&
    texts.every((key) => typeof value[key] === 'string') &&
    optional.every((key) => value[key] === null || typeof value[key] === 'string') &&
    Array.isArray(entries) &&
    entries.every(isRecordedEntry)
  );
}

function isRecordedEntry(value: unknown): boolean {
  return (
    isRecord(value) && typeof value['path'] === 'string' && typeof value['sha256'] === 'string'
  );
}
