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
import { indent, formatCount, toPrintable } from './print.ts';

/** A formatted piece of a transcript, not yet redacted. */
interface TranscriptPart {
  readonly kind: PartKind;
  readonly text: string;
}

type PartKind =
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

/** The readable parts of a transcript. One-line parts are truncated later, after redaction. */
export function listTranscriptParts(lines: readonly StoredLine[]): readonly TranscriptPart[] {
  return lines.filter(({ isSidechain }) => !isSidechain).flatMap(toParts);
}

function toParts(line: StoredLine): readonly TranscriptPart[] {
  switch (line.type) {
    case 'message':
      return toMessageParts(line);
    case 'compaction': {
      const tokens = formatCount(line.tokensBefore, 'token');
      return [{ kind: 'note', text: `conversation compacted (${line.trigger}, ${tokens} before)` }];
    }
    case 'deferral':
      return [{ kind: 'note', text: `deferred ${formatCall(line.call)}` }];
    default:
      return [{ kind: line.level === 'error' ? 'error' : 'note', text: line.text }];
  }
}

function toMessageParts(line: StoredMessage): readonly TranscriptPart[] {
  const { message, isMeta, isSummary } = line;
  if (isSummary) return [{ kind: 'summary', text: getMessageText(message) }];
  // Text beside a tool result comes from hooks, not from the user.
  const isBeside = message.content.some(({ type }) => type === 'tool_result');
  const kind = isMeta || isBeside ? 'context' : 'prompt';
  return message.role === 'user'
    ? message.content.map((block) => toUserPart(block, kind))
    : message.content.map(toAssistantPart);
}

function toUserPart(block: UserBlock, kind: PartKind): TranscriptPart {
  if (block.type === 'text') return { kind, text: block.text.replaceAll(REMINDER, '') };
  if (block.type === 'image') return { kind, text: `[${block.source.media_type}]` };
  return { kind: block.is_error === true ? 'failure' : 'result', text: formatResult(block) };
}

const REMINDER = /<\/?system-reminder>\n?/g;

function toAssistantPart(block: AssistantBlock): TranscriptPart {
  if (block.type === 'text') return { kind: 'answer', text: block.text };
  if (block.type === 'tool_use') return { kind: 'call', text: formatCall(block) };
  if (block.type === 'media') return { kind: 'answer', text: `[${block.media.mediaType}]` };
  return { kind: 'thinking', text: truncateWide(block.thinking) };
}

const LINE_WIDTH = 120;
// Redaction comes before truncation, because half a secret would not be recognized.
const WIDE_LENGTH = 4000;

function truncateWide(text: string): string {
  return truncateText(text, WIDE_LENGTH);
}

function formatResult({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return truncateWide(content);
  return truncateWide(
    content
      .map((block) => (block.type === 'text' ? block.text : `[${block.source.media_type}]`))
      .join('\n'),
  );
}

const MAIN_FIELDS = ['command', 'file_path', 'path', 'pattern', 'url', 'query', 'description'];

/** The tool name and the main field of its input. */
export function formatCall({ name, input }: Pick<ToolUseBlock, 'name' | 'input'>): string {
  return truncateWide(`${name} ${formatInput(input)}`);
}

function formatInput(input: unknown): string {
  const fields = isRecord(input) ? input : {};
  const mainValue = MAIN_FIELDS.map((field) => fields[field]).find(
    (value) => typeof value === 'string',
  );
  return mainValue ?? JSON.stringify(input) ?? '';
}

/** A redacted part as it is printed. */
export function formatPart({ kind, text }: TranscriptPart): string {
  switch (kind) {
    case 'prompt':
      return `\n${colors.bold('>')} ${colors.bold(indentFollowingLines(text))}`;
    case 'answer':
      return `\n${text.trimEnd()}`;
    case 'summary':
      return indent(text.trimEnd());
    case 'call':
      return `${colors.cyan('•')} ${formatLine(text)}`;
    case 'result':
      return colors.dim(`  → ${formatLine(text)}`);
    case 'failure':
      return `  ${colors.red('✗')} ${formatLine(text)}`;
    case 'error':
      return colors.red(`error: ${formatLine(text)}`);
    default:
      return colors.dim(`${kind}: ${formatLine(text)}`);
  }
}

function indentFollowingLines(text: string): string {
  return text.trimEnd().replaceAll('\n', '\n  ');
}

function formatLine(text: string): string {
  const [first = '', ...rest] = text.trim().split('\n');
  const cut = first.length > LINE_WIDTH ? `${truncateText(first, LINE_WIDTH - 1)}…` : first;
  return (
    toPrintable(cut) + (rest.length === 0 ? '' : ` (and ${formatCount(rest.length, 'more line')})`)
  );
}
