import path from 'node:path';
import type * as acp from '@agentclientprotocol/sdk';
import {
  type DisplayPart,
  listCallParts,
  type ToolCallInput,
  readCurrentText,
} from '../../agent/call-parts.ts';
import { getOwnValue, truncateText, isRecord } from '../../base/json.ts';
import { listVisibleLines, escapeInvisible } from '../../base/visible-text.ts';
import type { ToolOutput } from '../../agent/tools/tool.ts';

const LONGEST_SHOWN = 30_000;

export function toTextContent(text: string): acp.ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

/** A code block with the beginning of a long text. */
export function toCodeBlock(text: string, language = ''): acp.ToolCallContent {
  const bounded = text.length > LONGEST_SHOWN ? `${truncateText(text, LONGEST_SHOWN)}\n…` : text;
  return toWholeCodeBlock(bounded.trimEnd(), language);
}

/** A code block, so that the text is not read as markdown. */
function toWholeCodeBlock(text: string, language: string): acp.ToolCallContent {
  const fence = chooseFence(text);
  return toTextContent(`${fence}${language}\n${text}\n${fence}`);
}

/** A fence longer than any in the text. */
function chooseFence(text: string): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const longest = runs.reduce((length, run) => Math.max(length, run.length), 2);
  return '`'.repeat(longest + 1);
}

/** A quotation, so that it is not taken for the model's text. */
export function quoteText(text: string): string {
  const lines = text.trim().split(/\r?\n/);
  return `\n\n${lines.map((line) => `> ${line}`).join('\n')}\n\n`;
}

/** Describes a call as an editor shows it before it has run. */
export function describeCall(call: ToolCallInput) {
  const { tool, input, cwd } = call;
  const parts = listCallParts(call);
  const [first = { name: tool, fields: {} }] = parts;
  const more = parts.length > 1 ? ` and ${parts.length - 1} more` : '';
  return {
    title: `${formatTitle(first, cwd)}${more}`,
    name: tool,
    kind: getOwnValue(KINDS, first.name) ?? 'other',
    locations: parts.flatMap(listLocations),
    content: parts.flatMap((part) => describeIntent(part)),
    rawInput: input,
  };
}

const KINDS: Readonly<Record<string, acp.ToolKind>> = {
  Read: 'read',
  Edit: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
  Bash: 'execute',
  BashOutput: 'execute',
  KillShell: 'execute',
  Glob: 'search',
  Grep: 'search',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  Agent: 'think',
  Skill: 'think',
  TodoWrite: 'think',
  TaskCreate: 'think',
  TaskUpdate: 'think',
  AskUserQuestion: 'think',
  ExitPlanMode: 'switch_mode',
};

const LONGEST_TITLE = 200;

function formatTitle({ name, fields }: DisplayPart, cwd: string): string {
  const file = readText(fields, 'file_path');
  const about = findSubject(fields);
  switch (name) {
    case 'Bash':
      return toCode(readText(fields, 'command') ?? name);
    case 'Grep':
    case 'Glob':
      return `${name} ${toCode(readText(fields, 'pattern') ?? '')}`;
    case 'Agent':
      return readText(fields, 'description') ?? name;
    case 'ExitPlanMode':
      return 'The plan';
    case 'AskUserQuestion':
      return 'A question';
    default:
      if (file !== null) return `${name} ${formatPath(file, cwd)}`;
      return about === null ? name : `${name} ${toOneLine(about)}`;
  }
}

function findSubject(fields: DisplayPart['fields']): string | null {
  return Object.values(fields).find((value) => typeof value === 'string') ?? null;
}

function readText(fields: DisplayPart['fields'], name: string): string | null {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

function formatPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

function toOneLine(text: string): string {
  const [first = ''] = text.trim().split('\n');
  const isWhole = first === text.trim() && first.length <= LONGEST_TITLE;
  return isWhole ? first : `${truncateText(first, LONGEST_TITLE)} …`;
}

/** Whether a title shows a command as it is. */
function isWholeTitle(command: string): boolean {
  return toOneLine(command) === command && listVisibleLines(command).join('\n') === command;
}

/** Code, because titles are markdown and a command must not be read as such. */
function toCode(text: string): string {
  const line = escapeInvisible(toOneLine(text));
  return line.includes('`') ? line : `\`${line}\``;
}

function listLocations({ fields }: DisplayPart): acp.ToolCallLocation[] {
  const file = readText(fields, 'file_path');
  if (file === null) return [];
  const { offset } = fields;
  return [typeof offset === 'number' ? { path: file, line: offset } : { path: file }];
}

/** What the call would do, where the title does not contain it. */
function describeIntent(part: DisplayPart): acp.ToolCallContent[] {
  const change = toDiff(part, readCurrentText);
  if (change !== null) return [change];
  const { name, fields } = part;
  const command = readText(fields, 'command');
  if (name === 'Bash' && command !== null && !isWholeTitle(command)) {
    // All of it, because the user may be asked about it.
    return [toWholeCodeBlock(listVisibleLines(command).join('\n'), 'sh')];
  }
  const plan = readText(fields, 'plan');
  return name === 'ExitPlanMode' && plan !== null ? [toTextContent(plan)] : [];
}

/** The diff of a file, from its text before the call. */
function toDiff(
  { name, fields }: DisplayPart,
  textBefore: (file: string) => string | null,
): acp.ToolCallContent | null {
  const file = readText(fields, 'file_path');
  if (file === null) return null;
  const { old_string: oldText, new_string: replaced, content } = fields;
  if (name === 'Edit' && typeof oldText === 'string' && typeof replaced === 'string') {
    return {
      type: 'diff',
      path: file,
      oldText: oldText === '' ? null : oldText,
      newText: replaced,
    };
  }
  if (name !== 'Write' || typeof content !== 'string') return null;
  return { type: 'diff', path: file, oldText: textBefore(file), newText: content };
}

/** The content of a call that has ended. */
export function describeResult(call: ToolCallInput, output: ToolOutput): acp.ToolCallContent[] {
  const changes = listDiffs(call, output);
  const pictures = (output.images ?? []).map(toImageContent);
  if (output.success && (changes.length > 0 || pictures.length > 0)) {
    return [...changes, ...pictures];
  }
  const text = output.success ? output.text : (output.error ?? output.text);
  return [...changes, ...(text.trim() === '' ? [] : [toCodeBlock(text, getLanguage(call))])];
}

function listDiffs(
  call: ToolCallInput,
  { response, parts, success }: ToolOutput,
): acp.ToolCallContent[] {
  return listCallParts(call).flatMap((part, index) => {
    const original = readOriginal(parts?.[index]?.response ?? response);
    // A failed call left the file as it is.
    const change = toDiff(part, success ? () => original : readCurrentText);
    return change === null ? [] : [change];
  });
}

function readOriginal(response: unknown): string | null {
  const original = isRecord(response) ? response['originalFile'] : null;
  return typeof original === 'string' ? original : null;
}

function toImageContent({
  source,
}: NonNullable<ToolOutput['images']>[number]): acp.ToolCallContent {
  const { data, media_type: mimeType } = source;
  return { type: 'content', content: { type: 'image', data, mimeType } };
}

function getLanguage(call: ToolCallInput): string {
  return listCallParts(call)[0]?.name === 'Bash' ? 'console' : '';
}
