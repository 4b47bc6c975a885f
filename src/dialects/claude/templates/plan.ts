import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { dropUndefined } from '../../../base/defined.ts';
import { HooklineError, isHooklineError } from '../../../base/errors.ts';
import { isInside } from '../../../base/paths.ts';
import { quoteShellWord } from '../../../base/text.ts';
import type { DiscoveredUnit } from '../../discovery.ts';
import type { DialectMachine } from '../../machine.ts';
import { findClaudeDirectory } from '../directories.ts';
import {
  createNoHome,
  createProgramCheck,
  createUnknownEvent,
  type HasProgram,
  isGuardEvent,
  listMissingPrograms,
  type NewHookOptions,
  type NewHookPlan,
  requireEvent,
  resolveScriptLanguage,
  type ScriptLanguage,
  type WritePlan,
} from '../../templates.ts';
import { isSameFile, isThere } from '../../write-hook-file.ts';
import { addEntry } from '../config/edit.ts';
import { CLAUDE_EVENT_NAMES, type ClaudeEvent } from '../events.ts';
import { readWrittenEntry } from '../config/entry-text.ts';
import { CLAUDE_EXAMPLES, type ClaudeExampleEvent } from './examples.ts';
import { renderClaudeBashHook } from './bash.ts';
import { renderClaudeNodeHook, renderClaudeTypescriptHook } from './javascript.ts';
import { renderClaudePythonHook } from './python.ts';

/** The languages of examples in Claude's format: how a script is written, and its extension. */
export const CLAUDE_HOOK_LANGUAGES: Readonly<
  Record<ScriptLanguage, { write: (event: ClaudeExampleEvent) => string; extension: string }>
> = {
  bash: { write: renderClaudeBashHook, extension: '.sh' },
  python: { write: renderClaudePythonHook, extension: '.py' },
  // `.mjs` is a module whatever the nearest package.json says.
  node: { write: renderClaudeNodeHook, extension: '.mjs' },
  ts: { write: renderClaudeTypescriptHook, extension: '.mts' },
};

/** Plans a script, and an entry in a settings file that runs it. */
export function planClaudeHook(options: NewHookOptions): WritePlan {
  const event = resolveEvent(requireEvent(options.event));
  return (machine) => planHook(machine, event, options);
}

function resolveEvent(name: string): ClaudeEvent {
  const eventName = CLAUDE_EVENT_NAMES.find((each) => each.toLowerCase() === name.toLowerCase());
  if (eventName !== undefined) return eventName;
  const all = `Claude’s format has: ${CLAUDE_EVENT_NAMES.join(', ')}.`;
  throw createUnknownEvent(name, CLAUDE_EVENT_NAMES, all);
}

/** Throws for an invalid matcher, with which a guard would refuse or miss everything. */
async function checkMatcher(event: ClaudeEvent, matcher: string | undefined): Promise<void> {
  if (matcher === undefined) return;
  const [{ compileMatcher }, { createPatternScreen }] = await Promise.all([
    import('../../../hooks/matcher.ts'),
    import('../match/subject-matcher.ts'),
  ]);
  try {
    compileMatcher(matcher, createPatternScreen(event));
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    throw new HooklineError('USAGE_INVALID', {
      message: `--matcher should be names such as Edit|Write, or a regular expression: ${error.message}`,
      hint: 'Nothing was written. Quote it for the shell, and put \\ before characters that are meant as they are.',
      cause: error,
    });
  }
}

async function planHook(
  machine: DialectMachine,
  event: ClaudeEvent,
  options: NewHookOptions,
): Promise<NewHookPlan> {
  await checkMatcher(event, options.matcher);
  const hasProgram = createProgramCheck(machine);
  const language = resolveScriptLanguage(options.lang, hasProgram);
  const runner = findRunner(language, hasProgram);
  const claudePlace = resolvePlace(machine, options.isGlobal);
  const { write, extension } = CLAUDE_HOOK_LANGUAGES[language];
  const name = `${event}${extension}`;
  const script = path.join(claudePlace.directory, 'hooks', name);
  const example = CLAUDE_EXAMPLES[event];
  const entry = {
    matcher: options.matcher ?? example.matcher,
    handler: {
      type: 'command',
      command: formatCommand(event, [...runner.words, `${claudePlace.written}/hooks/${name}`]),
      ...dropUndefined({ timeout: example.timeout }),
    },
  };
  return {
    event,
    example,
    language,
    file: { path: script, text: write(event), mode: 0o755, within: claudePlace.within },
    existing: isThere(script) ? [script] : [],
    settings: {
      file: claudePlace.settings,
      within: claudePlace.within,
      addTo: (text) => addEntry(text, event, entry),
    },
    isNewHook: (unit) =>
      unit.eventName === event &&
      isSameFile(unit.path, claudePlace.settings) &&
      isEntry(unit, entry),
    notes: [...listMissingPrograms(language, hasProgram), ...runner.notes],
    // A setting may disable every hook of the file.
    describeUnseen: (reasons) =>
      `it does not run: ${claudePlace.settings} ${reasons.length === 0 ? 'is not read' : reasons.join('; ')}`,
  };
}

/**
 * Formats the command of an entry. That of a guard denies, too, when its interpreter or a module that it
 * imports is missing, for which the exit codes are 127 and 1.
 */
function formatCommand(event: ClaudeEvent, words: readonly string[]): string {
  return `${words.join(' ')}${isGuardEvent(event) ? ' || exit 2' : ''}`;
}

function isEntry(
  unit: DiscoveredUnit,
  newEntry: { readonly matcher: string | undefined; readonly handler: object },
): boolean {
  const entry = readWrittenEntry(unit);
  return (
    entry !== null &&
    entry.matcher === newEntry.matcher &&
    isDeepStrictEqual(entry.handler, { ...newEntry.handler })
  );
}

/** TypeScript needs a program that runs it; other scripts have a shebang line. */
function findRunner(
  language: ScriptLanguage,
  hasProgram: HasProgram,
): { readonly words: readonly string[]; readonly notes: readonly string[] } {
  if (language !== 'ts') return { words: [], notes: [] };
  const program = canNodeRunTypes() ? 'node' : ['bun', 'tsx'].find(hasProgram);
  if (program !== undefined) return { words: [program], notes: [] };
  const note = `Node ${process.versions.node} does not run TypeScript: npx fetches tsx when the hook first runs, or use Node 22.18 and pass --force`;
  return { words: ['npx', '--yes', 'tsx'], notes: [note] };
}

function canNodeRunTypes(): boolean {
  return 'typescript' in process.features && process.features.typescript !== false;
}

interface ClaudePlace {
  /** `.claude`. */
  readonly directory: string;
  /** The directory as it is written in commands. */
  readonly written: string;
  readonly settings: string;
  /** The workspace that must contain it, or null. */
  readonly within: string | null;
}

function resolvePlace(machine: DialectMachine, isGlobal: boolean): ClaudePlace {
  if (isGlobal) return resolvePersonalPlace(machine);
  // Settings of a project are read from the start directory only.
  const start = machine.startDirectory;
  const directory = path.join(start, '.claude');
  return {
    directory,
    written: '"$CLAUDE_PROJECT_DIR"/.claude',
    settings: path.join(directory, 'settings.json'),
    within: machine.workspaceRoots.find((root) => isInside(root, start)) ?? start,
  };
}

function resolvePersonalPlace(machine: DialectMachine): ClaudePlace {
  const directory = findClaudeDirectory(machine.surroundings);
  if (directory === null) throw createNoHome();
  const { home } = machine.surroundings;
  const isUsual = home !== null && directory === path.join(home, '.claude');
  return {
    directory,
    written: isUsual ? '~/.claude' : quoteShellWord(directory),
    settings: path.join(directory, 'settings.json'),
    within: null,
  };
}
