import { existsSync } from 'node:fs';
import { dropUndefined } from '../../base/defined.ts';
import { truncateText } from '../../base/json.ts';
import { defineTool, createInterruptedOutput } from './define-tool.ts';
import { resolveToolPath } from './files/read-path.ts';
import type { InputFields } from './input-fields.ts';
import { sortNewestFirst } from './files/sort-newest-first.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import { listUntrusted, type ToolContext } from './tool-context.ts';
import { getErrorMessage, isHooklineError } from '../../base/errors.ts';
import { importOptional } from '../../base/optional-packages.ts';
import { runProgram, type ProgramResult } from '../../process/run.ts';
import { cleanEnvironment } from '../../process/search-path.ts';
import path from 'node:path';
import { findPathInside } from '../../base/paths.ts';

const MODES: readonly GrepMode[] = ['content', 'files_with_matches', 'count'];
const DEFAULT_LIMIT = 250;
const MAX_TEXT_CHARACTERS = 30_000;

export const grepTool = defineTool<GrepInput>({
  name: 'Grep',
  description: [
    'Searches the contents of files with ripgrep. The pattern is a regular expression of ripgrep: escape braces to find them (`interface\\{\\}`).',
    'Files that .gitignore names are left out; hidden files are searched.',
    'output_mode is "files_with_matches" (the default, newest first), "content" (the matching lines, with -A, -B, -C, -n, -o) or "count".',
    `At most head_limit (${DEFAULT_LIMIT}, 0 for all) lines or files are returned, from offset on.`,
  ].join('\n'),
  schema: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'The regular expression to search for' },
      path: { type: 'string', description: 'File or directory; the working directory if absent' },
      glob: { type: 'string', description: 'Only files like this, such as "*.{ts,tsx}"' },
      type: { type: 'string', description: 'Only files of this type, such as js, py, rust' },
      output_mode: { type: 'string', enum: MODES },
      '-A': { type: 'number', description: 'Lines to show after each match (content only)' },
      '-B': { type: 'number', description: 'Lines to show before each match (content only)' },
      '-C': { type: 'number', description: 'Lines to show around each match (content only)' },
      '-n': { type: 'boolean', description: 'Show line numbers, true if absent (content only)' },
      '-i': { type: 'boolean', description: 'Ignore case' },
      '-o': { type: 'boolean', description: 'Show only the matching parts (content only)' },
      head_limit: {
        type: 'number',
        description: `Lines or files to give, ${DEFAULT_LIMIT} if absent`,
      },
      offset: { type: 'number', description: 'Lines or files to leave out first' },
      multiline: { type: 'boolean', description: 'Let matches span lines, and . match newlines' },
    },
    required: ['pattern'],
  },
  kind: 'read',
  parse: parseGrepInput,
  check: ({ path }) => (path === null || existsSync(path) ? null : `Path does not exist: ${path}`),
  async run(input, context, { signal }) {
    const cwd = context.cwd();
    const args = buildSearchArgs(input, cwd);
    const env = cleanEnvironment(context.environment(), listUntrusted(context), process.platform);
    const found = await runRipgrep(args, cwd, env, signal);
    if (found.kind === 'interrupted') return createInterruptedOutput();
    if (found.kind === 'failed') return createFailedOutput(`The search failed: ${found.message}`);
    const isDenied = context.createReadDenial?.(cwd) ?? null;
    const text = found.isComplete ? found.text : removeLastLine(found.text);
    const lines = parseFoundLines(text, input.mode, cwd, isDenied);
    return createGrepOutput(input, lines, context);
  },
});

function parseGrepInput(fields: InputFields, context: ToolContext): GrepInput {
  const path = fields.optionalText('path');
  if (path?.includes('\0')) fields.reject('path', 'a path without NUL characters');
  const pattern = fields.text('pattern');
  if (pattern === '' || /[\0]/.test(pattern)) fields.reject('pattern', 'a regular expression');
  return {
    pattern,
    path: path === null || path === '' ? null : resolveToolPath(path, context),
    glob: fields.optionalText('glob'),
    type: fields.optionalText('type'),
    mode: fields.optionalOneOf('output_mode', MODES) ?? 'files_with_matches',
    before: fields.optionalCount('-B'),
    after: fields.optionalCount('-A'),
    around: fields.optionalCount('-C'),
    hasLineNumbers: fields.has('-n') ? fields.flag('-n') : true,
    ignoresCase: fields.flag('-i'),
    onlyMatching: fields.flag('-o'),
    isMultiline: fields.flag('multiline'),
    limit: fields.optionalCount('head_limit') ?? DEFAULT_LIMIT,
    offset: fields.optionalCount('offset') ?? 0,
  };
}

/** The last line may be incomplete. */
function removeLastLine(text: string): string {
  return text.slice(0, Math.max(0, text.replace(/\n$/, '').lastIndexOf('\n')));
}

async function createGrepOutput(
  input: GrepInput,
  lines: readonly string[],
  context: ToolContext,
): Promise<ToolOutput> {
  if (input.mode === 'content') return createContentOutput(input, lines);
  if (input.mode === 'count') return createCountOutput(input, lines);
  return createFilesOutput(input, await sortNewestFirst(lines, context.cwd()));
}

function createContentOutput(input: GrepInput, lines: readonly string[]): ToolOutput {
  const page = selectPage(lines, input);
  const content = page.lines.join('\n');
  return createOutput(content === '' ? 'No matches found' : content + page.note, {
    mode: 'content',
    numFiles: 0,
    filenames: [],
    content,
    numLines: page.lines.length,
    totalLines: lines.length,
    ...page.applied,
  });
}

function createCountOutput(input: GrepInput, lines: readonly string[]): ToolOutput {
  const page = selectPage(lines, input);
  const content = page.lines.join('\n');
  const counts = page.lines.map((line) => Number(line.slice(line.lastIndexOf(':') + 1)));
  const numMatches = counts.reduce((sum, count) => sum + count, 0);
  const total = `Found ${numMatches} total occurrences across ${counts.length} files.`;
  return createOutput(content === '' ? 'No matches found' : `${content}\n\n${total}${page.note}`, {
    mode: 'count',
    numFiles: page.lines.length,
    filenames: [],
    content,
    numMatches,
    ...page.applied,
  });
}

function createFilesOutput(input: GrepInput, files: readonly string[]): ToolOutput {
  const page = selectPage(files, input);
  const count = page.lines.length;
  const text = `Found ${count} ${count === 1 ? 'file' : 'files'}\n${page.lines.join('\n')}`;
  return createOutput(count === 0 ? 'No files found' : text + page.note, {
    mode: 'files_with_matches',
    numFiles: count,
    filenames: page.lines,
    totalFiles: files.length,
    ...page.applied,
  });
}

/** The note states that there are more results. */
function selectPage(allLines: readonly string[], { limit, offset }: GrepInput) {
  const end = limit === 0 ? allLines.length : offset + limit;
  const isCut = end < allLines.length;
  const applied = dropUndefined({
    appliedLimit: isCut ? limit : undefined,
    appliedOffset: offset > 0 ? offset : undefined,
  });
  const next = `offset ${end} gives the next of ${allLines.length}`;
  const note = isCut ? `\n\n[Showing results with pagination = limit: ${limit}; ${next}]` : '';
  return { lines: allLines.slice(offset, end), applied, note };
}

function createOutput(text: string, response: unknown): ToolOutput {
  const isCut = text.length > MAX_TEXT_CHARACTERS;
  const note = '\n\n[Cut here: the results are too long; narrow the search or lower head_limit]';
  const outputText = isCut ? truncateText(text, MAX_TEXT_CHARACTERS) + note : text;
  return { response, text: outputText, success: true };
}

/** `isComplete` is false when the output exceeded the limit. */
type SearchResult =
  | { readonly kind: 'found'; readonly text: string; readonly isComplete: boolean }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'interrupted' };

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

async function runRipgrep(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<SearchResult> {
  const program = await findRipgrep();
  if (typeof program !== 'string') return program;
  const result = await runProgram(
    {
      file: program,
      args,
      cwd,
      env,
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
    const { rgPath } = await importOptional('Grep', () => import('@vscode/ripgrep'));
    return rgPath;
  } catch (error) {
    if (isHooklineError(error)) return createFailure(`${error.message}. ${error.hint}`);
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

/**
 * Splits ripgrep's output into lines, without those of denied files. `isDenied` checks an absolute path;
 * null when none is denied.
 */
function parseFoundLines(
  text: string,
  mode: GrepMode,
  cwd: string,
  isDenied: ((file: string) => boolean) | null,
): readonly string[] {
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  const allowed = isDenied === null ? lines : removeDenied(lines, mode, cwd, isDenied);
  return allowed.map((line) => line.replaceAll('\0', '').replace(/^\.\//, ''));
}

/** Separates groups of lines; a line of a file has a NUL after the name. */
const SEPARATOR = '--';

function removeDenied(
  lines: readonly string[],
  mode: GrepMode,
  cwd: string,
  isDenied: (file: string) => boolean,
): readonly string[] {
  const results = new Map<string, boolean>();
  const isAllowed = (line: string): boolean => {
    if (mode === 'content' && line === SEPARATOR) return true;
    const file = FILE_PARSERS[mode](line);
    if (file === null) return false;
    const denied = results.get(file) ?? isDenied(path.resolve(cwd, file));
    results.set(file, denied);
    return !denied;
  };
  const allowed = lines.filter(isAllowed);
  return mode === 'content' ? removeEmptyGroups(allowed) : allowed;
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

type GrepMode = 'content' | 'files_with_matches' | 'count';

interface GrepInput {
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
function buildSearchArgs(input: GrepInput, cwd: string): readonly string[] {
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
