import { isRecord } from '../../base/json.ts';
import type {
  Message,
  ToolUseBlock,
  AssistantBlock,
  ImageBlock,
  TextBlock,
  ToolResultBlock,
  UserBlock,
} from '../messages.ts';

/** A parsed line of a transcript, written by Hookline or Claude Code. */
export type StoredLine = LinePosition &
  (
    | StoredMessage
    | {
        readonly type: 'compaction';
        readonly trigger: string;
        readonly tokensBefore: number;
      }
    | { readonly type: 'deferral'; readonly call: ToolUseBlock }
    | { readonly type: 'note'; readonly level: string; readonly text: string }
  );

export interface StoredMessage {
  readonly type: 'message';
  readonly message: Message;
  readonly isMeta: boolean;
  /** Replaces all messages before it. */
  readonly isSummary: boolean;
  /** The same for all lines of one answer; null when the line has none. */
  readonly messageId: string | null;
  readonly model: string | null;
  /** Input and output tokens of the request; null when the line has none. */
  readonly tokens: number | null;
  /** Types of blocks that were skipped. */
  readonly unknownBlocks: readonly string[];
}

interface LinePosition {
  readonly uuid: string | null;
  /** Null when the line has no valid time. */
  readonly at: number | null;
  readonly cwd: string | null;
  /** Whether it belongs to a sub-agent. */
  readonly isSidechain: boolean;
}

/** Null when the line is not part of a conversation. */
export function parseStoredLine(line: Readonly<Record<string, unknown>>): StoredLine | null {
  if (line['type'] === 'system') return parseSystemLine(line);
  const isMessage = line['type'] === 'user' || line['type'] === 'assistant';
  return isMessage && isRecord(line['message']) ? parseMessageLine(line, line['message']) : null;
}

type Fields = Readonly<Record<string, unknown>>;

function parsePosition(line: Fields): LinePosition {
  const at = Date.parse(toText(line['timestamp']) ?? '');
  return {
    uuid: toText(line['uuid']),
    at: Number.isNaN(at) ? null : at,
    cwd: toText(line['cwd']),
    isSidechain: line['isSidechain'] === true,
  };
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Copies field by field: with a spread, thousands of lines take V8 many times as long. */
function parseMessageLine(line: Fields, message: Fields): StoredLine {
  const { parsed, unknownBlocks } = parseMessage(line, message);
  const { uuid, at, cwd, isSidechain } = parsePosition(line);
  return {
    uuid,
    at,
    cwd,
    isSidechain,
    type: 'message',
    message: parsed,
    isMeta: line['isMeta'] === true,
    isSummary: line['isCompactSummary'] === true,
    messageId: toText(message['id']),
    model: toText(message['model']),
    tokens: sumTokens(message['usage']),
    unknownBlocks,
  };
}

function parseMessage(
  { type }: Fields,
  message: Fields,
): { parsed: Message; unknownBlocks: readonly string[] } {
  if (type === 'assistant') {
    const { blocks: content, unknown } = parseBlocks(message['content'], parseAssistantBlock);
    return { parsed: { role: 'assistant', content }, unknownBlocks: unknown };
  }
  const { blocks: content, unknown } = parseBlocks(message['content'], parseUserBlock);
  return { parsed: { role: 'user', content }, unknownBlocks: unknown };
}

const TOKEN_FIELDS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
];

function sumTokens(usage: unknown): number | null {
  if (!isRecord(usage)) return null;
  return TOKEN_FIELDS.reduce((sum, name) => sum + toCount(usage[name]), 0);
}

function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function parseSystemLine(line: Fields): StoredLine | null {
  const { subtype, level } = line;
  if (subtype === 'compact_boundary') return parseBoundary(line);
  if (subtype === 'tool_deferred') return parseDeferral(line);
  const content = toText(line['content']);
  if (subtype !== 'informational' || content === null) return null;
  return { ...parsePosition(line), type: 'note', level: toText(level) ?? 'info', text: content };
}

function parseBoundary(line: Fields): StoredLine {
  const { trigger, preTokens } = isRecord(line['compactMetadata']) ? line['compactMetadata'] : {};
  return {
    ...parsePosition(line),
    type: 'compaction',
    trigger: toText(trigger) ?? 'auto',
    tokensBefore: toCount(preTokens),
  };
}

function parseDeferral(line: Fields): StoredLine | null {
  const call = isRecord(line['toolUse']) ? parseToolUse(line['toolUse']) : null;
  return call === null ? null : { ...parsePosition(line), type: 'deferral', call };
}

type BlockFields = Readonly<Record<string, unknown>>;

/** Parses the content of a line: a text, or blocks. `unknown` are the types of skipped blocks. */
function parseBlocks<Block>(
  content: unknown,
  parse: (block: BlockFields) => Block | TextBlock | null,
) {
  const blocks: (Block | TextBlock)[] = [];
  const unknown: string[] = [];
  if (typeof content === 'string') blocks.push({ type: 'text', text: content });
  for (const each of Array.isArray(content) ? content : []) {
    const block = isRecord(each) ? parse(each) : null;
    if (block === null) unknown.push(getBlockType(each));
    else blocks.push(block);
  }
  return { blocks, unknown };
}

function getBlockType(block: unknown): string {
  return isRecord(block) && typeof block['type'] === 'string' ? block['type'] : 'no type';
}

function parseUserBlock(block: BlockFields): UserBlock | null {
  return block['type'] === 'tool_result' ? parseToolResult(block) : parseTextOrImage(block);
}

function parseTextOrImage(block: BlockFields): TextBlock | ImageBlock | null {
  return block['type'] === 'image' ? parseImage(block) : parseText(block);
}

function parseText({ type, text }: BlockFields): TextBlock | null {
  return type === 'text' && typeof text === 'string' ? { type, text } : null;
}

function parseImage({ source }: BlockFields): ImageBlock | null {
  if (!isRecord(source) || source['type'] !== 'base64') return null;
  const { media_type, data } = source;
  if (typeof media_type !== 'string' || typeof data !== 'string') return null;
  return { type: 'image', source: { type: 'base64', media_type, data } };
}

function parseToolResult({ tool_use_id, content, is_error }: BlockFields): ToolResultBlock | null {
  if (typeof tool_use_id !== 'string') return null;
  const result = {
    type: 'tool_result',
    tool_use_id,
    content: typeof content === 'string' ? content : parseBlocks(content, parseTextOrImage).blocks,
  } as const;
  return typeof is_error === 'boolean' ? { ...result, is_error } : result;
}

function parseAssistantBlock(block: BlockFields): AssistantBlock | null {
  if (block['type'] === 'thinking') return parseThinking(block);
  return block['type'] === 'tool_use' ? parseToolUse(block) : parseText(block);
}

function parseThinking({ thinking, signature }: BlockFields): AssistantBlock | null {
  if (typeof thinking !== 'string') return null;
  if (typeof signature !== 'string') return { type: 'thinking', thinking };
  return { type: 'thinking', thinking, signature };
}

/** Parses a tool call, in a message or alone. */
function parseToolUse({ id, name, input }: BlockFields): ToolUseBlock | null {
  if (typeof id !== 'string' || typeof name !== 'string') return null;
  return { type: 'tool_use', id, name, input: input ?? {} };
}
