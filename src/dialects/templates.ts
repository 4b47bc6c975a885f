import { HooklineError } from '../base/errors.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import { createProgramFinder } from '../process/program-finder.ts';
import type { DiscoveredUnit } from './discovery.ts';
import type { DialectMachine } from './machine.ts';

/** The hooks that `hooks new` writes for a dialect. */
export interface HookTemplates {
  /** What it writes, for the help of `--dialect`: `a file`. */
  readonly about: string;
  /** The values of `--lang`. */
  readonly languages: readonly string[];
  /** Refuses what cannot be written; must not look at the machine before the plan is carried out. */
  readonly load: () => Promise<PlanNewHook>;
}

export type PlanNewHook = (options: NewHookOptions) => WritePlan;

export interface NewHookOptions {
  readonly event?: string;
  readonly lang?: string;
  readonly matcher?: string;
  readonly isGlobal: boolean;
}

/** What is to be written on this machine, beside the units that were found there. */
export type WritePlan = (
  machine: DialectMachine,
  units: readonly DiscoveredUnit[],
) => Promise<NewHookPlan>;

export interface NewHookPlan {
  /** Under its foreign name. */
  readonly event: string;
  readonly example: HookExample;
  readonly language: string;
  readonly file: NewHookFile;
  /** Files that are hooks of this event already. */
  readonly existing: readonly string[];
  /** The file that configures the hook, for one that is more than its file. */
  readonly settings: NewEntry | null;
  /** Whether a unit is the hook that is written. */
  readonly isNewHook: (unit: DiscoveredUnit) => boolean;
  /** Remarks for the user, as sentences. */
  readonly notes: readonly string[];
  /** What is said when the new hook is not found, with the reasons for which its file is ignored. */
  readonly describeUnseen: (reasons: readonly string[]) => string;
  /** The command that shows it at work, where firing an event does not. */
  readonly tryIt?: (file: string) => string;
}

export interface NewHookFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** The directory that links in the path must not lead out of; null when any place will do. */
  readonly within: string | null;
}

export interface NewEntry {
  readonly file: string;
  readonly within: string | null;
  /** The file's text with the entry. */
  readonly addTo: (text: string) => string;
}

/** What the example hook of one event is told, may answer and does. */
export interface HookExample {
  /** When the hook runs. */
  readonly runs: string;
  /** What the example does. */
  readonly does: string;
  /** Fields of the payload that only this event has. */
  readonly reads: readonly Row[];
  readonly answers: readonly Row[];
  readonly trial: Trial;
}

export type Row = readonly [what: string, meaning: string];

/** An event that makes the example do something that can be seen. */
export interface Trial {
  /** For `hookline hooks fire`, by the flag's name. */
  readonly flags: Readonly<Record<string, string>>;
  /** What no flag can say. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** A command that shows what the hook left behind, or null when its answer shows it. */
  readonly look: string | null;
}

/** Languages of scripts, with the programs that a script needs to run, by their names on the PATH. */
export const SCRIPT_LANGUAGES = {
  bash: ['bash', 'jq'],
  python: ['python3'],
  node: [],
  ts: [],
} as const satisfies Record<string, readonly string[]>;

export type ScriptLanguage = keyof typeof SCRIPT_LANGUAGES;

export const SCRIPT_LANGUAGE_NAMES: readonly ScriptLanguage[] =
  Object.keys(SCRIPT_LANGUAGES).filter(isScriptLanguage);

function isScriptLanguage(name: string): name is ScriptLanguage {
  return Object.hasOwn(SCRIPT_LANGUAGES, name);
}

export type HasProgram = (name: string) => boolean;

export function createProgramCheck({
  surroundings: { env, platform },
}: Pick<DialectMachine, 'surroundings'>): HasProgram {
  const find = createProgramFinder(env['PATH'], platform);
  return (name) => find(name) !== null;
}

export function listMissingPrograms(
  language: ScriptLanguage,
  hasProgram: HasProgram,
): readonly string[] {
  const needs: readonly string[] = SCRIPT_LANGUAGES[language];
  return needs
    .filter((name) => !hasProgram(name))
    .map((name) => `${name} is not on the PATH, and the hook needs it`);
}

export function resolveScriptLanguage(
  written: string | undefined,
  hasProgram: HasProgram,
): ScriptLanguage {
  if (written === undefined) return SCRIPT_LANGUAGES.bash.every(hasProgram) ? 'bash' : 'node';
  if (isScriptLanguage(written)) return written;
  throw new HooklineError('USAGE_INVALID', {
    message: `--lang should be one of ${SCRIPT_LANGUAGE_NAMES.join(', ')}, found ${JSON.stringify(written)}`,
    hint: 'Leave it out for bash, or node where bash or jq is missing.',
  });
}

/** What a name that no event has may have been meant to be. */
export function createUnknownEvent(
  name: string,
  known: readonly string[],
  all: string,
): HooklineError {
  const meant = findClosestName(name, known);
  return new HooklineError('EVENT_UNKNOWN', {
    message: `there is no event ${JSON.stringify(name)}`,
    hint: meant === null ? all : `Did you mean ${meant}?`,
  });
}

/** Hooks of these dialects have one event each, which `hooks new` must name. */
export function requireEvent(event: string | undefined): string {
  if (event !== undefined) return event;
  throw new HooklineError('USAGE_INVALID', {
    message: 'hooks new expects the event that the hook is for, found none',
    hint: 'Say for example: hookline hooks new PreToolUse. Only --dialect plugin needs none.',
  });
}

export function createNoHome(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: '--global needs a home directory, and this machine does not say which is yours',
    hint: 'Set HOME, or leave --global out.',
  });
}

/** What the comment at the head of an example says of every event of its format. */
interface HeaderWords {
  /** What comes in with every event; the fields of this one follow. */
  readonly gets: readonly string[];
  /** How an answer is given; the answers follow. */
  readonly answers: string;
  readonly end: readonly string[];
}

interface HeaderInput {
  readonly event: string;
  readonly example: HookExample;
  readonly words: HeaderWords;
}

/** The comment at the head of an example: when it runs, what it gets and what it may answer. */
export function renderHeader({ event, example, words }: HeaderInput, mark: '#' | '//'): string {
  const { runs, does, reads, answers } = example;
  const lines = [
    `${event} runs ${runs}.`,
    `This one ${does}.`,
    '',
    ...words.gets,
    ...formatColumns(reads),
    words.answers,
    ...formatColumns(answers),
    ...words.end,
  ];
  return `${lines.map((line) => `${mark} ${line}`.trimEnd()).join('\n')}\n`;
}

// What is longer than this has a line of its own, so that the others stay beside their meaning.
const MAX_COLUMN = 44;

function formatColumns(rows: readonly Row[]): string[] {
  const lengths = rows.map(([what]) => what.length);
  const width = Math.max(0, ...lengths.filter((length) => length <= MAX_COLUMN));
  return rows.flatMap(([what, meaning]) =>
    what.length > MAX_COLUMN
      ? [`  ${what}`, `  ${''.padEnd(width)}  ${meaning}`]
      : [`  ${what.padEnd(width)}  ${meaning}`],
  );
}

/**
 * A script as it stands in the file: backslashes are kept, but for those in front of a backtick
 * and of `${`, which a template literal cannot hold bare.
 */
export function formatScript({ raw }: TemplateStringsArray): string {
  const text = raw.join('').replaceAll('\\`', '`').replaceAll('\\${', '${');
  return `${text.replace(/^\n/u, '').trimEnd()}\n`;
}
