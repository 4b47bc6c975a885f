import path from 'node:path';
import { HooklineError, isHooklineError } from '../../base/errors.ts';
import { isInside, findRealPath, findPathInside } from '../../base/paths.ts';
import { openConfigFile, runEdit } from '../hooks-file.ts';
import type { ImportPlan, ImportRequest, LeftOut, ReportedEntry } from '../import-hooks.ts';
import type { DialectMachine } from '../machine.ts';
import { findClineDirectory } from '../shared-directories.ts';
import { findClaudeDirectory } from './directories.ts';
import { findProjectRoot } from '../workspace-roots.ts';
import {
  readWrittenEntry,
  isSameEntry,
  parseEntryText,
  type WrittenEntry,
} from './config/entry-text.ts';
import { addEntry } from './config/edit.ts';
import { readHooksText } from './config/read-hooks-text.ts';
import type { Entry, Source, SourceKind } from './entry.ts';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../base/json.ts';
import type { Part } from '../../base/located-json.ts';
import type { DiscoveredUnit } from '../discovery.ts';
import { formatLabel } from './identity.ts';
import { compileEntryMatcher } from './match/entry-matcher.ts';
import { createPatternScreen, isToolEvent } from './match/subject-matcher.ts';
import { type HandlerType, NEVER_FIRED } from './events.ts';
import { listNames, TOOL_NAMES } from '../../tool-vocabularies/tool-views.ts';
import { compileMatcher, type Matcher } from '../../hooks/matcher.ts';

/** Plans a copy of the hooks in Claude's settings to `.cline/hooks.json`. */
export function importClaudeHooks(request: ImportRequest, machine: DialectMachine): ImportPlan {
  const claudeHooks = readClaudeHooks(machine, request.isGlobal);
  if (claudeHooks.files.length === 0) throw createNothingFoundError(machine, request.isGlobal);
  const { file, within } = findTarget(request, machine);
  const target = openConfigFile(file, within);
  const merged = mergeHooks(target, claudeHooks.entries);
  const root = request.isGlobal ? null : findProjectRoot(machine);
  const describe = createEntryReporter(request.disabled, root);
  return {
    report: {
      from: claudeHooks.files,
      to: file,
      added: merged.added.map(describe),
      present: merged.present.map(describe),
      leftOut: claudeHooks.leftOut,
      notes: [...claudeHooks.notes, ...listPlaceNotes(machine, file, root)],
    },
    write: () => target.write(merged.text),
    isCopy(copy, original) {
      const [one, other] = [readWrittenEntry(copy), readWrittenEntry(original)];
      return one !== null && other !== null && isSameEntry(one, other);
    },
  };
}

/** Finds the file to write, and the directory that links must not lead out of, or null. */
function findTarget(
  { to, isGlobal }: ImportRequest,
  machine: DialectMachine,
): { readonly file: string; readonly within: string | null } {
  const root = findProjectRoot(machine);
  if (to !== null) return { file: to, within: isInside(root, to) ? root : null };
  if (!isGlobal) return { file: path.join(root, '.cline', 'hooks.json'), within: root };
  const directory = findClineDirectory(machine.surroundings);
  if (directory === null) throw createNothingFoundError(machine, true);
  return { file: path.join(directory, 'hooks.json'), within: null };
}

function createNothingFoundError(machine: DialectMachine, isGlobal: boolean): HooklineError {
  const files = listSources(machine, isGlobal).map(({ file }) => file);
  const expectedFiles = files.length === 0 ? 'a home directory' : files.join(' or ');
  return new HooklineError('USAGE_INVALID', {
    message: `nothing to import: ${expectedFiles} not found`,
    hint: isGlobal
      ? 'Omit --global for the settings of this project.'
      : 'Pass the project with --cwd DIR, or --global for your own settings.',
  });
}

/** Adds the missing entries to the target's text and changes nothing else; `present` are in it already. */
function mergeHooks(
  target: { readonly file: string; readonly text: string },
  imported: readonly ImportedEntry[],
) {
  const existing = readEntries(target);
  const added: ImportedEntry[] = [];
  const present: ImportedEntry[] = [];
  let { text } = target;
  for (const each of imported) {
    const writtenHandler = parseWritten(each.entry);
    if (writtenHandler === null || existing.some((other) => isSameEntry(other, writtenHandler))) {
      present.push(each);
      continue;
    }
    existing.push(writtenHandler);
    added.push(each);
    const { event, matcher } = each.entry;
    text = runEdit(target.file, () => addEntry(text, event, { matcher, handler: each.handler }));
  }
  return { text, added, present };
}

function parseWritten({ text }: Entry): WrittenEntry | null {
  return parseEntryText(text);
}

function readEntries({ file, text }: { file: string; text: string }): WrittenEntry[] {
  if (text.trim() === '') return [];
  const { entries } = readHooksText(text, createSettingsSource(file, 'project', null), 'settings');
  return entries.flatMap((entry) => parseWritten(entry) ?? []);
}

/** An entry that can be copied. */
interface ImportedEntry {
  readonly entry: Entry;
  /** As written, with its fields in their order. */
  readonly handler: Readonly<Record<string, unknown>>;
}

/** The hooks in Claude's settings that can be copied. */
interface ClaudeHooks {
  /** The files that exist. */
  readonly files: readonly string[];
  readonly entries: readonly ImportedEntry[];
  readonly leftOut: readonly LeftOut[];
  /** Sentences about other settings that change how the hooks run. */
  readonly notes: readonly string[];
}

/** Reads the project's settings files, or the user's. */
function readClaudeHooks(machine: DialectMachine, isGlobal: boolean): ClaudeHooks {
  const read = listSources(machine, isGlobal).map(readSource);
  return {
    files: read.flatMap(({ files }) => files),
    entries: read.flatMap(({ entries }) => entries),
    leftOut: read.flatMap(({ leftOut }) => leftOut),
    notes: read.flatMap(({ notes }) => notes),
  };
}

function listSources(machine: DialectMachine, isGlobal: boolean): readonly Source[] {
  if (isGlobal) {
    const directory = findClaudeDirectory(machine.surroundings);
    if (directory === null) return [];
    return ['settings.json', MISPLACED].map((name) =>
      createSettingsSource(path.join(directory, name), 'user', null),
    );
  }
  const root = findProjectRoot(machine);
  const directory = path.join(machine.startDirectory, '.claude');
  return [
    createSettingsSource(path.join(directory, 'settings.json'), 'project', root),
    createSettingsSource(path.join(directory, 'settings.local.json'), 'local', root),
    createSettingsSource(path.join(directory, MISPLACED), 'project', root),
  ];
}

/** Claude Code does not read it, but many have written their hooks there. */
const MISPLACED = 'hooks.json';

function createSettingsSource(file: string, kind: SourceKind, root: string | null): Source {
  const place = root === null ? 'home' : 'workspace';
  return { kind, label: kind, file, place, root, isCline: false, family: 'settings', plugin: null };
}

function readSource(source: Source): ClaudeHooks {
  const { file, root } = source;
  if (findRealPath(file) === null) return { files: [], entries: [], leftOut: [], notes: [] };
  const { text } = openConfigFile(file, root);
  const { settings, entries, broken, ignored } = readHooksText(text, source, 'settings');
  const handlers = listHandlers(settings.get('hooks'));
  return {
    files: [file],
    entries: entries.map((entry) => ({ entry, handler: findWrittenHandler(entry, handlers) })),
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
  env: 'its variables are not copied: they are set for hooks as long as that file exists',
  allowedHttpHookUrls: 'it is not copied, and applies as long as that file exists',
  httpHookAllowedEnvVars: 'it is not copied, and applies as long as that file exists',
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

/** Returns a function that describes an entry, and how its copy differs. */
function createEntryReporter(
  disabled: readonly DiscoveredUnit[],
  root: string | null,
): (imported: ImportedEntry) => ReportedEntry {
  const isOff = createOffCheck(disabled);
  return ({ entry }) => ({
    event: entry.event,
    matcher: entry.matcher ?? null,
    type: entry.type,
    runs: formatLabel(entry),
    file: entry.source.file,
    line: entry.line,
    differs: [
      ...listDifferences(entry, root),
      ...(isOff(entry) ? ['is disabled; the copy has another id and is not'] : []),
    ],
  });
}

function createOffCheck(disabled: readonly DiscoveredUnit[]): (entry: Entry) => boolean {
  const off = disabled.filter(({ line }) => line !== null);
  return ({ source, text }) => {
    const writtenEntry = parseEntryText(text);
    return off.some((unit) => {
      const entry = unit.path === source.file ? readWrittenEntry(unit) : null;
      return entry !== null && writtenEntry !== null && isSameEntry(entry, writtenEntry);
    });
  };
}

function listPlaceNotes(
  { startDirectory }: DialectMachine,
  to: string,
  root: string | null,
): readonly string[] {
  const isUsual =
    path.basename(to) === 'hooks.json' && path.basename(path.dirname(to)) === '.cline';
  if (!isUsual) {
    return [`hooks are read from .cline/hooks.json only: pass ${to} with --settings to use it`];
  }
  if (root === null || root === startDirectory) {
    return ['Both files may stay: a hook that is in both runs once.'];
  }
  return [
    `.claude counts for sessions that start in ${startDirectory}, .cline/hooks.json for all in ${root}: a hook that is in both runs twice in the former, so keep it in one`,
    `CLAUDE_PROJECT_DIR is ${root} for .cline/hooks.json, but ${startDirectory} for .claude/settings.json: what hooks name through it is looked for there after the copy`,
  ];
}

/** Lists as sentences what would be different about an entry in `.cline/hooks.json`. */
function listDifferences(entry: Entry, root: string | null): readonly string[] {
  const { problem, notes } = compileEntryMatcher(entry);
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
  prompt: ['needs a model, and fails with a warning where none is connected, as in `hooks fire`'],
  agent: ['needs a model, and fails with a warning where none is connected, as in `hooks fire`'],
  mcp_tool: ['needs its MCP server, and fails with a warning where it is not connected'],
};

function explainWiderMatcher({ event, matcher }: Entry): readonly string[] {
  const compiled = isToolEvent(event) ? tryCompile(matcher, event) : null;
  if (compiled?.kind !== 'pattern') return [];
  const more = findNewlyMatched(compiled);
  if (more.length === 0) return [];
  return [
    `matcher ${JSON.stringify(matcher)} will also match ${more.join(', ')}: in .cline/hooks.json a pattern is tried on every name of a tool, not on Claude’s alone`,
  ];
}

function tryCompile(matcher: string | undefined, event: Entry['event']): Matcher | null {
  try {
    return compileMatcher(matcher, createPatternScreen(event));
  } catch (error) {
    // The entry's matcher already reports that it is invalid.
    if (isHooklineError(error)) return null;
    throw error;
  }
}

/** Finds the other names that the matcher matches although it does not match the tool's Claude name. */
function findNewlyMatched(matcher: Matcher): readonly string[] {
  const names = TOOL_NAMES.filter(({ claude }) => !matcher.fits([claude]))
    .flatMap(listNames)
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
