import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readTextIfPresent } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { SourceKind } from './source.ts';

/** The source of an install, and its exact version. */
export interface InstallRecord {
  /** The argument of `plugin install` that would install it again. */
  readonly source: string;
  readonly kind: SourceKind;
  readonly name: string;
  readonly version: string | null;
  /** For git: the commit that was checked out. */
  readonly commit: string | null;
  /** For npm: the hash of the tarball in the registry. */
  readonly integrity: string | null;
  /** The hash of all installed files, by name and content. */
  readonly sha256: string;
  readonly entries: readonly {
    /** Relative to the install's directory, with `/` on every system. */
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

/** Reads the record of an install; null where there is none, for example when Cline installed it. */
export function readRecord(directory: string): InstallRecord | null {
  const text = readQuietly(path.join(directory, RECORD_NAME));
  const parsed = text === null ? null : parseJson(text);
  return parsed?.ok === true && isInstallRecord(parsed.value) ? parsed.value : null;
}

function readQuietly(file: string): string | null {
  try {
    return readTextIfPresent(file);
  } catch {
    // An unreadable record is treated as a missing one.
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
