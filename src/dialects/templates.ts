import { HooklineError } from '../base/errors.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import { createProgramFinder } from '../process/program-finder.ts';
import type { DiscoveredUnit } from './discovery.ts';
import type { DialectMachine } from './machine.ts';

/** The hooks that `hooks new` writes for a dialect. */
export interface HookTemplates {
  /** What it creates, for the help of `--dialect`: `a file`. */
  readonly about: string;
  /** Whether `--matcher` limits what the new hook runs for. */
  readonly takesMatcher?: true;
  /** The values of `--lang`. */
  readonly languages: readonly string[];
  /** Loads the planner, which throws for invalid options and must not access the machine. */
  readonly load: () => Promise<PlanNewHook>;
}

export type PlanNewHook = (options: NewHookOptions) => WritePlan;

export interface NewHookOptions {
  readonly event?: string;
  readonly lang?: string;
  readonly matcher?: string;
  readonly isGlobal: boolean;
}

/** Plans what to write on this machine, given the units that exist there. */
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
  /** Files that already are hooks of this event. */
  readonly existing: readonly string[];
  /** The entry in a settings file, for a hook that needs one. */
  readonly settings: NewEntry | null;
  /** Whether a unit is the new hook. */
  readonly isNewHook: (unit: DiscoveredUnit) => boolean;
  /** Remarks for the user, as sentences. */
  readonly notes: readonly string[];
  /** Describes why the new hook is not found, from the reasons for which its file is ignored. */
  readonly describeUnseen: (reasons: readonly string[]) => string;
  /** Returns the command that demonstrates it, where firing an event does not. */
  readonly tryIt?: (file: string) => string;
}

export interface NewHookFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** The directory that links in the path must not lead out of; null for no limit. */
  readonly within: string | null;
}

export interface NewEntry {
  readonly file: string;
  readonly within: string | null;
  /** The file's text with the entry. */
  readonly addTo: (text: string) => string;
}

/** The example hook of one event: its payload fields, answers and action. */
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

/** An event that makes the example do something visible. */
export interface Trial {
  /** For `hookline hooks fire`, by the flag's name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Facts that no flag can express. */
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
    hint: 'Omit it for bash, or for node where bash or jq is missing.',
  });
}

/** Creates the error for an unknown event, with a suggestion. */
export function createUnknownEvent(
  name: string,
  knownNames: readonly string[],
  all: string,
): HooklineError {
  const suggestion = findClosestName(name, knownNames);
  return new HooklineError('EVENT_UNKNOWN', {
    message: `event ${JSON.stringify(name)} not found`,
    hint: suggestion === null ? all : `Did you mean ${suggestion}?`,
  });
}

/** Throws without an event, which hooks of these dialects need. */
export function requireEvent(event: string | undefined): string {
  if (event !== undefined) return event;
  throw new HooklineError('USAGE_INVALID', {
    message: 'missing event',
    hint: 'For example: `hookline hooks new PreToolUse`. Only --dialect plugin needs no event.',
  });
}

export function createNoHome(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: '--global needs a home directory, and none is set',
    hint: 'Set HOME, or omit --global.',
  });
}

/** The parts of the head comment that are the same for every event of a format. */
interface HeaderWords {
  /** Describes the fields of every event; those of this one follow. */
  readonly gets: readonly string[];
  /** Describes how to answer; the answers follow. */
  readonly answers: string;
  readonly end: readonly string[];
}

interface HeaderInput {
  readonly event: string;
  readonly example: HookExample;
  readonly words: HeaderWords;
}

/** Renders the head comment of an example: when it runs, what it gets and what it may answer. */
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

// A longer field gets its own line, so that the column stays narrow.
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
 * Tags a script: keeps backslashes, except those before a backtick and `${`, which a template literal
 * must escape.
 */
export function formatScript({ raw }: TemplateStringsArray): string {
  const text = raw.join('').replaceAll('\\`', '`').replaceAll('\\${', '${');
  return `${text.replace(/^\n/u, '').trimEnd()}\n`;
}

const GUARD_EVENTS: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PermissionRequest',
  'UserPromptSubmit',
]);

/** Whether the example of an event is a guard, which refuses when it cannot do its work. */
export function isGuardEvent(event: string): boolean {
  return GUARD_EVENTS.has(event);
}

/** An example in JavaScript, the same in TypeScript. */
export interface JavascriptParts {
  /** The names that the body imports, by module of Node. */
  readonly uses: Readonly<Record<string, string>>;
  /** The payload fields that the body reads, as members of a TypeScript interface. */
  readonly payload: string;
  readonly body: string;
}

/**
 * Creates an example that appends one line to a log: `log` is its code, `what` an expression for its
 * text, `payload` the field that the expression reads.
 */
export function createLogParts(
  log: string,
  event: string,
  what: string,
  payload: string,
): JavascriptParts {
  const uses = {
    'node:fs': 'appendFileSync, mkdirSync',
    'node:os': 'homedir',
    'node:path': 'join',
  };
  const body = log.replace('WHAT', what).replaceAll('EVENT', event);
  return { uses, payload: `  ${payload};\n`, body };
}
