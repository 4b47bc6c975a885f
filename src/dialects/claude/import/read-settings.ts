import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../base/json.ts';
import { findRealPath } from '../../../base/paths.ts';
import type { Part } from '../../../base/located-json.ts';
import { readHooksText } from '../config/read-hooks-text.ts';
import type { Entry, Source, SourceKind } from '../entry.ts';
import type { LeftOut } from '../../import-hooks.ts';
import type { DialectMachine } from '../../machine.ts';
import { openConfigFile } from '../../hooks-file.ts';
import { findProjectRoot } from '../../place.ts';
import { findClaudeDirectory } from '../../own-directories.ts';
import { parseEntryText } from '../written-entry.ts';

/** An entry that can be copied. */
export interface ImportedEntry {
  readonly entry: Entry;
  /** As written, with its fields in their order. */
  readonly handler: Readonly<Record<string, unknown>>;
}

/** The hooks in Claude's settings that can be copied. */
export interface ClaudeHooks {
  /** The files that exist. */
  readonly files: readonly string[];
  readonly entries: readonly ImportedEntry[];
  readonly leftOut: readonly LeftOut[];
  /** Sentences about other settings that change how the hooks run. */
  readonly notes: readonly string[];
}

/** Reads the project's settings files, or the user's. */
export function readClaudeHooks(machine: DialectMachine, isGlobal: boolean): ClaudeHooks {
  const read = listSources(machine, isGlobal).map(readSource);
  return {
    files: read.flatMap(({ files }) => files),
    entries: read.flatMap(({ entries }) => entries),
    leftOut: read.flatMap(({ leftOut }) => leftOut),
    notes: read.flatMap(({ notes }) => notes),
  };
}

export function listSources(machine: DialectMachine, isGlobal: boolean): readonly Source[] {
  if (isGlobal) {
    const directory = findClaudeDirectory(machine.surroundings);
    if (directory === null) return [];
    return [createSource(path.join(directory, 'settings.json'), 'user', null)];
  }
  const root = findProjectRoot(machine);
  const directory = path.join(machine.startDirectory, '.claude');
  return [
    createSource(path.join(directory, 'settings.json'), 'project', root),
    createSource(path.join(directory, 'settings.local.json'), 'local', root),
  ];
}

export function createSource(file: string, kind: SourceKind, root: string | null): Source {
  const place = root === null ? 'home' : 'workspace';
  return { kind, label: kind, file, place, root, isCline: false, family: 'settings', plugin: null };
}

function readSource(source: Source): ClaudeHooks {
  const { file, root } = source;
  if (findRealPath(file) === null) return { files: [], entries: [], leftOut: [], notes: [] };
  const { text } = openConfigFile(file, root);
  const { settings, entries, broken, ignored } = readHooksText(text, source, 'settings');
  const written = listHandlers(settings.get('hooks'));
  return {
    files: [file],
    entries: entries.map((entry) => ({ entry, handler: findWrittenHandler(entry, written) })),
    leftOut: [...broken, ...ignored].map(({ line, why }) => ({ file, line, why })),
    notes: listSettingNotes(file, settings),
  };
}

function listHandlers(hooks: Part | undefined): readonly Part[] {
  const groups = [...(hooks?.fields?.values() ?? [])].flatMap(({ items }) => items ?? []);
  return groups.flatMap(({ fields }) => fields?.get('hooks')?.items ?? []);
}

/** Finds the handler as written: the text that trust covers has sorted fields, the file need not. */
function findWrittenHandler(
  { line, text }: Entry,
  written: readonly Part[],
): ImportedEntry['handler'] {
  const sorted = parseEntryText(text)?.handler ?? {};
  const same = written.find((part) => part.line === line && isDeepStrictEqual(part.value, sorted));
  return isRecord(same?.value) ? same.value : sorted;
}

const NOT_COPIED = {
  env: 'its variables are not copied: they are set for hooks as long as that file stays',
  allowedHttpHookUrls: 'it is not copied, and counts as long as that file stays',
  httpHookAllowedEnvVars: 'it is not copied, and counts as long as that file stays',
} as const;

function listSettingNotes(file: string, settings: ReadonlyMap<string, Part>): readonly string[] {
  const isOff = settings.get('disableAllHooks')?.value === true;
  return [
    ...(isOff
      ? [
          `${file} has "disableAllHooks": true, which is not copied: without that file the hooks run`,
        ]
      : []),
    ...Object.entries(NOT_COPIED).flatMap(([name, why]) =>
      settings.has(name) ? [`"${name}" of ${file}: ${why}`] : [],
    ),
  ];
}
