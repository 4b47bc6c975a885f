import path from 'node:path';
import { colors } from '../output/colors.ts';
import { truncateText } from '../../base/json.ts';
import { formatPath } from '../../base/paths.ts';
import type { Entry } from '../../dialects/claude-config/entry.ts';
import { labelOf } from '../../dialects/claude-config/identity.ts';
import { projectRoot } from '../../dialects/claude-config/sources/places.ts';
import type { Host } from '../../host/create-host.ts';
import { toOneLine, formatCount, toPrintable } from '../output/print.ts';
import { parseHookEntry, isSameEntry, parseEntryText } from '../config-files/hook-entry.ts';
import { differencesOf } from './differences.ts';
import type { Merged } from './merge.ts';
import type { ClaudeHooks, ImportedEntry, LeftOut } from './read-claude.ts';

export interface ReportedEntry {
  readonly event: string;
  readonly matcher: string | null;
  readonly type: string;
  readonly runs: string;
  readonly file: string;
  readonly line: number;
  /** What would be different, as sentences. */
  readonly differs: readonly string[];
}

export interface ImportReport {
  readonly from: readonly string[];
  readonly to: string;
  readonly added: readonly ReportedEntry[];
  readonly present: readonly ReportedEntry[];
  readonly leftOut: readonly LeftOut[];
  readonly notes: readonly string[];
}

export interface ReportRequest {
  readonly host: Host;
  readonly found: ClaudeHooks;
  readonly merged: Merged;
  readonly to: string;
  readonly isGlobal: boolean;
}

export function createReport({ host, found, merged, to, isGlobal }: ReportRequest): ImportReport {
  const root = isGlobal ? null : projectRoot(host);
  const isOff = offCheck(host);
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
    notes: [...found.notes, ...placeNotes(host, { to, root })],
  };
}

function offCheck(host: Host): (entry: Entry) => boolean {
  const off = host.hooks().filter(({ hook, isEnabled }) => !isEnabled && hook.line !== null);
  return ({ source, text }) => {
    const written = parseEntryText(text);
    return off.some(({ hook }) => {
      const entry = hook.path === source.file ? parseHookEntry(hook) : null;
      return entry !== null && written !== null && isSameEntry(entry, written);
    });
  };
}

function placeNotes(
  { startDirectory }: Host,
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

export function jsonReport(report: ImportReport, isWritten: boolean): unknown {
  return { ...report, written: isWritten };
}

export function readableReport(report: ImportReport, host: Host): string {
  const { added, present, leftOut, notes, to } = report;
  const shown = (file: string): string =>
    toOneLine(formatPath(file, { cwd: projectRoot(host), home: host.surroundings.home }));
  const differing = added.filter(({ differs }) => differs.length > 0).length;
  return [
    `${formatCount(added.length, 'hook')} to copy to ${shown(to)}${differenceCount(added.length, differing)}`,
    ...added.flatMap((entry) => entryLines(entry, shown)),
    ...present.map((entry) => `  ${colors.dim(`already there: ${titleOf(entry, shown)}`)}`),
    ...leftOut.map(({ file, line, why }) =>
      colors.yellow(`  left out: ${shown(file)}:${line}: ${toPrintable(why)}`),
    ),
    ...notes.map((note) => toPrintable(note)),
  ].join('\n');
}

function differenceCount(total: number, differing: number): string {
  if (total === 0) return '.';
  return differing === 0 ? '; none would differ:' : `; ${differing} of them would differ:`;
}

type ShowPath = (file: string) => string;

function entryLines(entry: ReportedEntry, shown: ShowPath): string[] {
  return [
    `  ${titleOf(entry, shown)}`,
    ...entry.differs.map((text) => colors.yellow(`    ! ${toPrintable(text)}`)),
  ];
}

const RUNS_WIDTH = 60;

function titleOf({ event, matcher, type, runs, file, line }: ReportedEntry, shown: ShowPath) {
  const what = runs.length <= RUNS_WIDTH ? runs : `${truncateText(runs, RUNS_WIDTH - 1)}…`;
  const subject = matcher === null || matcher === '' ? '' : ` ${matcher}`;
  return `${event}${toPrintable(subject)}: ${type} ${toPrintable(what)} ${colors.dim(`${shown(file)}:${line}`)}`;
}
