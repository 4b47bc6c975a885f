import { existsSync } from 'node:fs';
import { truncateText } from '../../base/json.ts';
import { defineTool, createInterruptedOutput } from './define-tool.ts';
import { resolveToolPath } from './files/read-path.ts';
import type { InputFields } from './input-fields.ts';
import {
  parseFoundLines,
  runRipgrep,
  buildSearchArgs,
  type GrepInput,
  type GrepMode,
} from './ripgrep.ts';
import { sortNewestFirst } from './files/sort-newest-first.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

const MODES: readonly GrepMode[] = ['content', 'files_with_matches', 'count'];
const DEFAULT_LIMIT = 250;
const MAX_TEXT_CHARACTERS = 30_000;

export const grepTool = defineTool<GrepInput>({
  name: 'Grep',
  description: [
    'Searches the contents of files with ripgrep. The pattern is a regular expression of ripgrep: escape braces to find them (`interface\\{\\}`).',
    'Files that .gitignore names are left out; hidden files are searched.',
    'output_mode is "files_with_matches" (the default, newest first), "content" (the matching lines, with -A, -B, -C, -n, -o) or "count".',
    `At most head_limit (${DEFAULT_LIMIT}, 0 for all) lines or files are fields, from offset on.`,
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
    const search = { args: buildSearchArgs(input, cwd), cwd, env: context.environment() };
    const found = await runRipgrep(search, signal);
    if (found.kind === 'interrupted') return createInterruptedOutput();
    if (found.kind === 'failed') return createFailedOutput(`The search failed: ${found.message}`);
    const isDenied = context.createReadDenial?.(cwd) ?? null;
    const text = found.isComplete ? found.text : removeLastLine(found.text);
    const lines = parseFoundLines(text, { mode: input.mode, cwd, isDenied });
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
  const content = page.shown.join('\n');
  return createOutput(content === '' ? 'No matches found' : content + page.note, {
    mode: 'content',
    numFiles: 0,
    filenames: [],
    content,
    numLines: page.shown.length,
    totalLines: lines.length,
    ...page.applied,
  });
}

function createCountOutput(input: GrepInput, lines: readonly string[]): ToolOutput {
  const page = selectPage(lines, input);
  const content = page.shown.join('\n');
  const counts = page.shown.map((line) => Number(line.slice(line.lastIndexOf(':') + 1)));
  const numMatches = counts.reduce((sum, count) => sum + count, 0);
  const total = `Found ${numMatches} total occurrences across ${counts.length} files.`;
  return createOutput(content === '' ? 'No matches found' : `${content}\n\n${total}${page.note}`, {
    mode: 'count',
    numFiles: page.shown.length,
    filenames: [],
    content,
    numMatches,
    ...page.applied,
  });
}

function createFilesOutput(input: GrepInput, files: readonly string[]): ToolOutput {
  const page = selectPage(files, input);
  const count = page.shown.length;
  const text = `Found ${count} ${count === 1 ? 'file' : 'files'}\n${page.shown.join('\n')}`;
  return createOutput(count === 0 ? 'No files found' : text + page.note, {
    mode: 'files_with_matches',
    numFiles: count,
    filenames: page.shown,
    totalFiles: files.length,
    ...page.applied,
  });
}

interface Page {
  readonly shown: readonly string[];
  readonly applied: { readonly appliedLimit?: number; readonly appliedOffset?: number };
  /** States that there are more results. */
  readonly note: string;
}

function selectPage(lines: readonly string[], { limit, offset }: GrepInput): Page {
  const end = limit === 0 ? lines.length : offset + limit;
  const isCut = end < lines.length;
  const applied = {
    ...(isCut ? { appliedLimit: limit } : {}),
    ...(offset > 0 ? { appliedOffset: offset } : {}),
  };
  const next = `offset ${end} gives the next of ${lines.length}`;
  const note = isCut ? `\n\n[Showing results with pagination = limit: ${limit}; ${next}]` : '';
  return { shown: lines.slice(offset, end), applied, note };
}

function createOutput(text: string, response: unknown): ToolOutput {
  const isCut = text.length > MAX_TEXT_CHARACTERS;
  const note = '\n\n[Cut here: the results are too long; narrow the search or lower head_limit]';
  const shown = isCut ? truncateText(text, MAX_TEXT_CHARACTERS) + note : text;
  return { response, text: shown, success: true };
}
