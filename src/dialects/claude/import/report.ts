import path from 'node:path';
import type { DiscoveredUnit } from '../../discovery.ts';
import type { ImportReport, ImportRequest, ReportedEntry } from '../../import-hooks.ts';
import type { DialectMachine } from '../../machine.ts';
import { findProjectRoot } from '../../place.ts';
import type { Entry } from '../entry.ts';
import { formatLabel } from '../identity.ts';
import { readWrittenEntry, isSameEntry, parseEntryText } from '../written-entry.ts';
import type { Merged } from './merge.ts';
import type { ClaudeHooks, ImportedEntry } from './read-settings.ts';
import { isHooklineError } from '../../../base/errors.ts';
import { findPathInside } from '../../../base/paths.ts';
import { compileFit } from '../match/fit.ts';
import { createPatternScreen } from '../match/pattern-screen.ts';
import { isToolEvent } from '../match/subjects.ts';
import { type HandlerType, NEVER_FIRED } from '../events.ts';
import { TOOL_NAMES } from '../../../tool-vocabularies/tool-views.ts';
import { compileMatcher, type Matcher } from '../../../hooks/matcher.ts';

/** Reports each entry, and how its copy differs. */
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
    runs: formatLabel(entry),
    file: entry.source.file,
    line: entry.line,
    differs: [
      ...listDifferences(entry, root),
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
      const entry = unit.path === source.file ? readWrittenEntry(unit) : null;
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

/** Lists as sentences what would be different about an entry in `.cline/hooks.json`. */
function listDifferences(entry: Entry, root: string | null): readonly string[] {
  const { problem, notes } = compileFit(entry);
  return [
    ...entry.notes,
    ...(problem === null ? notes : [problem]),
    ...explainWiderMatcher(entry),
    ...explainPluginNames(entry),
    ...explainUnusualEvent(entry),
    ...(NEEDS[entry.type] ?? []),
    ...(root === null ? [] : explainMachinePaths(entry, root)),
    ...(entry.source.kind === 'local' ? [LOCAL] : []),
  ];
}

const LOCAL =
  'settings.local.json is yours alone; .cline/hooks.json is usually shared with the repository';

const NEEDS: Partial<Record<HandlerType, readonly string[]>> = {
  prompt: ['needs a model, and fails aloud where none is connected, as in `hooks fire`'],
  agent: ['needs a model, and fails aloud where none is connected, as in `hooks fire`'],
  mcp_tool: ['needs its MCP server, and fails aloud where it is not connected'],
};

function explainWiderMatcher({ event, matcher }: Entry): readonly string[] {
  const compiled = isToolEvent(event) ? tryCompile(matcher, event) : null;
  if (compiled?.kind !== 'pattern') return [];
  const more = findNewlyMatched(compiled);
  if (more.length === 0) return [];
  return [
    `matcher ${JSON.stringify(matcher)} will also fit ${more.join(', ')}: in .cline/hooks.json a pattern is tried on every name of a tool, not on Claude’s alone`,
  ];
}

function tryCompile(matcher: string | undefined, event: Entry['event']): Matcher | null {
  try {
    return compileMatcher(matcher, createPatternScreen(event));
  } catch (error) {
    // The entry's fit already reports that the matcher is invalid.
    if (isHooklineError(error)) return null;
    throw error;
  }
}

/** Finds Cline's names that the matcher matches although it does not match the tool's Claude name. */
function findNewlyMatched(matcher: Matcher): readonly string[] {
  const names = TOOL_NAMES.filter(({ claude }) => !matcher.fits([claude]))
    .flatMap(({ classic, sdk }) => [...classic, ...sdk])
    .filter((name) => !name.includes('<') && matcher.fits([name]));
  return [...new Set(names)];
}

function explainPluginNames(entry: Entry): readonly string[] {
  const variable = /\$\{CLAUDE_PLUGIN_(?:ROOT|DATA)\}/.exec(joinCommandLine(entry))?.[0];
  if (variable === undefined) return [];
  return [`names ${variable}, which only hooks of a plugin have: it does not run, there or here`];
}

function joinCommandLine(entry: Entry): string {
  return entry.type === 'command' ? [entry.command, ...(entry.args ?? [])].join(' ') : '';
}

function explainUnusualEvent({ event }: Entry): readonly string[] {
  const why = NEVER_FIRED[event];
  return why === undefined ? [] : [`${event} never fires here: ${why}`];
}

const SYSTEM = /^\/(?:bin|sbin|usr|etc|dev|proc|tmp|opt\/homebrew)(?:\/|$)/;
const ABSOLUTE = /(?<![\w$}"'.~:/-])["']?(\/[\w.@+/-]+)/g;

function explainMachinePaths(entry: Entry, root: string): readonly string[] {
  const paths = [...joinCommandLine(entry).matchAll(ABSOLUTE)].map(([, file = '']) => file);
  return [...new Set(paths)]
    .filter((file) => !SYSTEM.test(file))
    .map((file) => explainMachinePath(file, root));
}

function explainMachinePath(file: string, root: string): string {
  const inside = findPathInside(root, file);
  if (inside === null) return `names ${file}, which only this machine has`;
  return `names ${file}, which only this checkout has: write "$CLAUDE_PROJECT_DIR"/${inside}`;
}
