import { getErrorMessage } from '../../base/errors.ts';
import { runProgram, type ProgramResult } from '../../process/run.ts';
import path from 'node:path';
import { findPathInside } from '../../base/paths.ts';

interface Search {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `isComplete` is false when the output exceeded the limit. */
type SearchResult =
  | { readonly kind: 'found'; readonly text: string; readonly isComplete: boolean }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'interrupted' };

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export async function runRipgrep(search: Search, signal: AbortSignal): Promise<SearchResult> {
  const program = await findRipgrep();
  if (typeof program !== 'string') return program;
  const result = await runProgram(
    {
      ...search,
      file: program,
      stdin: '',
      timeoutMs: TIMEOUT_MS,
      maxStdoutBytes: MAX_OUTPUT_BYTES,
      killGraceMs: 200,
    },
    { signal },
  );
  return toSearchResult(result);
}

/** The binary is a platform-specific optional package, which may not be installed. */
async function findRipgrep(): Promise<string | SearchResult> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    return rgPath;
  } catch (error) {
    return createFailure(`ripgrep could not be found for this platform: ${getErrorMessage(error)}`);
  }
}

function toSearchResult(result: ProgramResult): SearchResult {
  const { ending, exitCode, stdout, spawnError } = result;
  if (ending === 'abort') return { kind: 'interrupted' };
  if (spawnError !== null) return createFailure(`ripgrep cannot be run: ${spawnError.message}`);
  if (ending === 'timeout') {
    return createFailure(
      `The search was ended after ${TIMEOUT_MS / 1000} s; narrow it with path, glob or type.`,
    );
  }
  const complaint = result.stderr.text.trim();
  // Exit code 2 without stderr means that some file could not be read.
  if (exitCode !== 0 && exitCode !== 1 && stdout.totalBytes === 0 && complaint !== '') {
    return createFailure(complaint);
  }
  return { kind: 'found', text: stdout.text, isComplete: !stdout.truncated };
}

function createFailure(message: string): SearchResult {
  return { kind: 'failed', message };
}

interface Showing {
  readonly mode: GrepMode;
  readonly cwd: string;
  /** Whether an absolute path must not be shown; null when all may. */
  readonly isDenied: ((file: string) => boolean) | null;
}

/** Splits ripgrep's output into lines, without those of denied files. */
export function parseFoundLines(text: string, showing: Showing): readonly string[] {
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = showing.isDenied === null ? lines : removeDenied(lines, showing, showing.isDenied);
  return shown.map((line) => line.replaceAll('\0', '').replace(/^\.\//, ''));
}

/** Separates groups of lines; a line of a file has a NUL after the name. */
const SEPARATOR = '--';

function removeDenied(
  lines: readonly string[],
  { mode, cwd }: Showing,
  isDenied: (file: string) => boolean,
): readonly string[] {
  const known = new Map<string, boolean>();
  const mayShow = (line: string): boolean => {
    if (mode === 'content' && line === SEPARATOR) return true;
    const file = FILE_PARSERS[mode](line);
    if (file === null) return false;
    const denied = known.get(file) ?? isDenied(path.resolve(cwd, file));
    known.set(file, denied);
    return !denied;
  };
  const shown = lines.filter(mayShow);
  return mode === 'content' ? removeEmptyGroups(shown) : shown;
}

const BINARY = /^(.*?): (?:binary file matches|WARNING: stopped searching)/;

/** Extracts the file of a line; null when unknown. */
const FILE_PARSERS: Readonly<Record<GrepMode, (line: string) => string | null>> = {
  content: (line) => {
    const end = line.indexOf('\0');
    return end === -1 ? (BINARY.exec(line)?.[1] ?? null) : line.slice(0, end);
  },
  count: (line) => line.slice(0, Math.max(0, line.lastIndexOf(':'))),
  files_with_matches: (line) => line,
};

function removeEmptyGroups(lines: readonly string[]): readonly string[] {
  const isEnd = (line: string | undefined): boolean => line === undefined || line === SEPARATOR;
  const single = lines.filter((line, index) => line !== SEPARATOR || !isEnd(lines[index - 1]));
  return single.at(-1) === SEPARATOR ? single.slice(0, -1) : single;
}

export type GrepMode = 'content' | 'files_with_matches' | 'count';

export interface GrepInput {
  readonly pattern: string;
  /** Absolute; null means the working directory. */
  readonly path: string | null;
  readonly glob: string | null;
  readonly type: string | null;
  readonly mode: GrepMode;
  readonly before: number | null;
  readonly after: number | null;
  readonly around: number | null;
  readonly hasLineNumbers: boolean;
  readonly ignoresCase: boolean;
  readonly onlyMatching: boolean;
  readonly isMultiline: boolean;
  /** 0 means all. */
  readonly limit: number;
  readonly offset: number;
}

const MAX_COLUMNS = 500;

/** Builds ripgrep's arguments. The user's own configuration is ignored. */
export function buildSearchArgs(input: GrepInput, cwd: string): readonly string[] {
  return [
    '--no-config',
    '--no-messages',
    '--color=never',
    '--hidden',
    `--max-columns=${MAX_COLUMNS}`,
    '--max-columns-preview',
    // Pagination requires a stable order.
    '--sort=path',
    ...buildModeArgs(input),
    ...(input.ignoresCase ? ['--ignore-case'] : []),
    ...(input.isMultiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(input.type === null ? [] : [`--type=${input.type}`]),
    ...splitGlobs(input.glob ?? '').map((glob) => `--glob=${glob}`),
    // The last one wins.
    ...VERSION_CONTROL.map((name) => `--glob=!${name}`),
    `--regexp=${input.pattern}`,
    '--',
    toPathArg(input.path ?? cwd, cwd),
  ];
}

const VERSION_CONTROL = ['.git', '.svn', '.hg', '.bzr', '.jj'];

/** A NUL marks the end of a file name; parseFoundLines removes it. */
const FIELD_END = String.raw`\x00`;

function buildModeArgs(input: GrepInput): readonly string[] {
  if (input.mode === 'files_with_matches') return ['--files-with-matches'];
  if (input.mode === 'count') return ['--count', '--with-filename'];
  return [
    '--no-heading',
    '--with-filename',
    `--field-match-separator=${FIELD_END}:`,
    `--field-context-separator=${FIELD_END}-`,
    input.hasLineNumbers ? '--line-number' : '--no-line-number',
    ...(input.onlyMatching ? ['--only-matching'] : []),
    ...buildContextArgs(input),
  ];
}

function buildContextArgs({ before, after, around }: GrepInput): readonly string[] {
  const above = before ?? around;
  const below = after ?? around;
  return [
    ...(above === null ? [] : [`--before-context=${above}`]),
    ...(below === null ? [] : [`--after-context=${below}`]),
  ];
}

/** `*.ts, *.tsx` and `*.ts *.tsx` are two; `*.{ts,tsx}` is one. */
function splitGlobs(globs: string): readonly string[] {
  return globs
    .split(/\s+/)
    .flatMap((part) => (/\{.*\}/.test(part) ? [part] : part.split(',')))
    .filter((part) => part !== '');
}

/** A relative path, so that results are relative, too. */
function toPathArg(place: string, cwd: string): string {
  const inside = findPathInside(cwd, place);
  return inside === null ? place : `./${inside}`;
}
