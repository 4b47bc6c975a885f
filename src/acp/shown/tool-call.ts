import path from 'node:path';
import type * as acp from '@agentclientprotocol/sdk';
import { type CallPart, callParts, type CallToShow, currentText } from '../../agent/call-parts.ts';
import { truncateText } from '../../base/json.ts';
import { textContent, verbatim } from './content.ts';

/** What an editor shows of a call before it has run. */
export interface ShownCall {
  readonly title: string;
  readonly name: string;
  readonly kind: acp.ToolKind;
  readonly locations: acp.ToolCallLocation[];
  readonly content: acp.ToolCallContent[];
  readonly rawInput: unknown;
}

export function showCall(call: CallToShow): ShownCall {
  const { tool, input, cwd } = call;
  const parts = callParts(call);
  const [first = { name: tool, fields: {} }] = parts;
  const more = parts.length > 1 ? ` and ${parts.length - 1} more` : '';
  return {
    title: `${titleOf(first, cwd)}${more}`,
    name: tool,
    kind: KINDS[first.name] ?? 'other',
    locations: parts.flatMap(locationOf),
    content: parts.flatMap((part) => intentOf(part)),
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

function titleOf({ name, fields }: CallPart, cwd: string): string {
  const file = textField(fields, 'file_path');
  const about = subjectOf(fields);
  switch (name) {
    case 'Bash':
      return codeWord(textField(fields, 'command') ?? name);
    case 'Grep':
    case 'Glob':
      return `${name} ${codeWord(textField(fields, 'pattern') ?? '')}`;
    case 'Agent':
      return textField(fields, 'description') ?? name;
    case 'ExitPlanMode':
      return 'The plan';
    case 'AskUserQuestion':
      return 'A question';
    default:
      if (file !== null) return `${name} ${shownPath(file, cwd)}`;
      return about === null ? name : `${name} ${oneLine(about)}`;
  }
}

function subjectOf(fields: CallPart['fields']): string | null {
  return Object.values(fields).find((value) => typeof value === 'string') ?? null;
}

function textField(fields: CallPart['fields'], name: string): string | null {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

function shownPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

function oneLine(text: string): string {
  const [first = ''] = text.trim().split('\n');
  const isWhole = first === text.trim() && first.length <= LONGEST_TITLE;
  return isWhole ? first : `${truncateText(first, LONGEST_TITLE)} …`;
}

/** Titles are markdown, and a command must not become some. */
function codeWord(text: string): string {
  const line = oneLine(text);
  return line.includes('`') ? line : `\`${line}\``;
}

function locationOf({ fields }: CallPart): acp.ToolCallLocation[] {
  const file = textField(fields, 'file_path');
  if (file === null) return [];
  const { offset } = fields;
  return [typeof offset === 'number' ? { path: file, line: offset } : { path: file }];
}

/** What the call would do, as far as its title does not say it. */
function intentOf(part: CallPart): acp.ToolCallContent[] {
  const change = changeOf(part, currentText);
  if (change !== null) return [change];
  const { name, fields } = part;
  const command = textField(fields, 'command');
  if (name === 'Bash' && command !== null && oneLine(command) !== command) {
    return [verbatim(command, 'sh')];
  }
  const plan = textField(fields, 'plan');
  return name === 'ExitPlanMode' && plan !== null ? [textContent(plan)] : [];
}

/** The change of a file, from the text that was there before it. */
export function changeOf(
  { name, fields }: CallPart,
  textBefore: (file: string) => string | null,
): acp.ToolCallContent | null {
  const file = textField(fields, 'file_path');
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
