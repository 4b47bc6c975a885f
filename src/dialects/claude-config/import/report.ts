import path from 'node:path';
import type { DiscoveredUnit } from '../../discovery.ts';
import type { ImportReport, ImportRequest, ReportedEntry } from '../../import-hooks.ts';
import type { DialectMachine } from '../../machine.ts';
import { findProjectRoot } from '../../place.ts';
import type { Entry } from '../entry.ts';
import { labelOf } from '../identity.ts';
import { entryOf, isSameEntry, parseEntryText } from '../written-entry.ts';
import { differencesOf } from './differences.ts';
import type { Merged } from './merge.ts';
import type { ClaudeHooks, ImportedEntry } from './read-settings.ts';

/** What the plan says of each entry, and what is different about the copies. */
export function createReport(
  found: ClaudeHooks,
  merged: Merged,
  { to, request, machine }: { to: string; request: ImportRequest; machine: DialectMachine },
): ImportReport {
  const root = request.isGlobal ? null : findProjectRoot(machine);
  const isOff = createOffCheck(request.disabled);
  const describe = ({ entry }: ImportedEntry): ReportedEntry => ({
    event: entry.event,
    matcher: entry.matcher ?? null,
    type: entry.type,
    runs: labelOf(entry),
    file: entry.source.file,
    line: entry.line,
    differs: [
      ...differencesOf(entry, root),
      ...(isOff(entry) ? ['is switched off; the copy has another id, and is not'] : []),
    ],
  });
  return {
    from: found.files,
    to,
    added: merged.added.map(describe),
    present: merged.present.map(describe),
    leftOut: found.leftOut,
    notes: [...found.notes, ...listPlaceNotes(machine, { to, root })],
  };
}

function createOffCheck(disabled: readonly DiscoveredUnit[]): (entry: Entry) => boolean {
  const off = disabled.filter(({ line }) => line !== null);
  return ({ source, text }) => {
    const written = parseEntryText(text);
    return off.some((unit) => {
      const entry = unit.path === source.file ? entryOf(unit) : null;
      return entry !== null && written !== null && isSameEntry(entry, written);
    });
  };
}

function listPlaceNotes(
  { startDirectory }: DialectMachine,
  { to, root }: { to: string; root: string | null },
): readonly string[] {
  const isUsual =
    path.basename(to) === 'hooks.json' && path.basename(path.dirname(to)) === '.cline';
  if (!isUsual) {
    return [`hooks are read from .cline/hooks.json only: name ${to} with --settings to use it`];
  }
  if (root === null || root === startDirectory) {
    return ['Both files may stay: a hook that stands in both runs once.'];
  }
  return [
    `.claude counts for sessions that start in ${startDirectory}, .cline/hooks.json for all in ${root}: a hook that stands in both runs twice in the former, so keep it in one`,
    `CLAUDE_PROJECT_DIR is ${root} for .cline/hooks.json, but ${startDirectory} for .claude/settings.json: what hooks name through it is looked for there after the copy`,
  ];
}
