import { truncateText, isRecord } from '../../base/json.ts';
import {
  type AssistantBlock,
  type ToolResultBlock,
  getMessageText,
  type ToolUseBlock,
  type UserBlock,
} from '../../sessions/messages.ts';
import type { StoredLine, StoredMessage } from '../../sessions/transcript/stored-line.ts';
import { colors } from './colors.ts';
import { indent, plural, printable } from './print.ts';

/** A piece of a transcript in words, not yet free of secrets. */
export interface ShownPart {
  readonly kind: Kind;
  readonly text: string;
}

type Kind =
  | 'prompt'
  | 'context'
  | 'answer'
  | 'thinking'
  | 'call'
  | 'result'
  | 'failure'
  | 'summary'
  | 'note'
  | 'error';

/** What a person wants to read of a transcript. What goes onto one line is still longer than that. */
export function shownParts(lines: readonly StoredLine[]): readonly ShownPart[] {
  return lines.filter(({ isSidechain }) => !isSidechain).flatMap(partsOf);
}

function partsOf(line: StoredLine): readonly ShownPart[] {
  switch (line.type) {
    case 'message':
      return messageParts(line);
    case 'compaction': {
      const tokens = plural(line.tokensBefore, 'token');
      return [
        { kind: 'note', text: `summed up what was said (${line.trigger}, ${tokens} before)` },
      ];
    }
    case 'deferral':
      return [{ kind: 'note', text: `deferred ${callText(line.call)}` }];
    default:
      return [{ kind: line.level === 'error' ? 'error' : 'note', text: line.text }];
  }
}

function messageParts(line: StoredMessage): readonly ShownPart[] {
  const { message, isMeta, isSummary } = line;
  if (isSummary) return [{ kind: 'summary', text: getMessageText(message) }];
  // Beside a tool's answer stands what hooks said about it, never a person's words.
  const isBeside = message.content.some(({ type }) => type === 'tool_result');
  const kind = isMeta || isBeside ? 'context' : 'prompt';
  return message.role === 'user'
    ? message.content.map((block) => userPart(block, kind))
    : message.content.map(assistantPart);
}

function userPart(block: UserBlock, kind: Kind): ShownPart {
  if (block.type === 'text') return { kind, text: block.text.replaceAll(REMINDER, '') };
  if (block.type === 'image') return { kind, text: `[${block.source.media_type}]` };
  return { kind: block.is_error === true ? 'failure' : 'result', text: resultText(block) };
}

const REMINDER = /<\/?system-reminder>\n?/g;

function assistantPart(block: AssistantBlock): ShownPart {
  if (block.type === 'text') return { kind: 'answer', text: block.text };
  if (block.type === 'tool_use') return { kind: 'call', text: callText(block) };
  return { kind: 'thinking', text: wide(block.thinking) };
}

const LINE_WIDTH = 120;
// Secrets are taken out before a text is cut to its line: half of one would not be known as one.
const WIDE = 4000;

function wide(text: string): string {
  return truncateText(text, WIDE);
}

function resultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return wide(content);
  return wide(
    content
      .map((block) => (block.type === 'text' ? block.text : `[${block.source.media_type}]`))
      .join('\n'),
  );
}

const TELLING = ['command', 'file_path', 'path', 'pattern', 'url', 'query', 'description'];

/** A call in words: its tool, and what of its input tells most. */
export function callText({ name, input }: Pick<ToolUseBlock, 'name' | 'input'>): string {
  return wide(`${name} ${inputText(input)}`);
}

function inputText(input: unknown): string {
  const fields = isRecord(input) ? input : {};
  const telling = TELLING.map((field) => fields[field]).find((value) => typeof value === 'string');
  return telling ?? JSON.stringify(input) ?? '';
}

/** The part as it is printed, once it holds no secrets. */
export function paintPart({ kind, text }: ShownPart): string {
  switch (kind) {
    case 'prompt':
      return `\n${colors.bold('>')} ${colors.bold(belowFirst(text))}`;
    case 'answer':
      return `\n${text.trimEnd()}`;
    case 'summary':
      return indent(text.trimEnd());
    case 'call':
      return `${colors.cyan('•')} ${line(text)}`;
    case 'result':
      return colors.dim(`  → ${line(text)}`);
    case 'failure':
      return `  ${colors.red('✗')} ${line(text)}`;
    case 'error':
      return colors.red(`error: ${line(text)}`);
    default:
      return colors.dim(`${kind}: ${line(text)}`);
  }
}

function belowFirst(text: string): string {
  return text.trimEnd().replaceAll('\n', '\n  ');
}

function line(text: string): string {
  const [first = '', ...rest] = text.trim().split('\n');
  const cut = first.length > LINE_WIDTH ? `${truncateText(first, LINE_WIDTH - 1)}…` : first;
  return printable(cut) + (rest.length === 0 ? '' : ` (and ${plural(rest.length, 'more line')})`);
}
