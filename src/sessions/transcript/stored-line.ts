import { isRecord } from '../../base/json.ts';
import type { Message, ToolUseBlock } from '../messages.ts';
import { parseAssistantBlocks, parseToolUse, parseUserBlocks } from './blocks.ts';

/** A line of a transcript as it is read, whoever wrote it. */
export type StoredLine = LinePlace &
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
  /** Stands for all that was said before it. */
  readonly isSummary: boolean;
  /** Lines of one answer have the same; null when the line does not say. */
  readonly messageId: string | null;
  readonly model: string | null;
  /** What the request took and gave, in tokens; null when the line does not say. */
  readonly tokens: number | null;
  /** Types of blocks that were left out. */
  readonly unknownBlocks: readonly string[];
}

interface LinePlace {
  readonly uuid: string | null;
  /** Null when the line has no time that can be read. */
  readonly at: number | null;
  readonly cwd: string | null;
  /** Said by or to a sub-agent. */
  readonly isSidechain: boolean;
}

/** Null when the line is none of those that a conversation is made of. */
export function parseStoredLine(line: Readonly<Record<string, unknown>>): StoredLine | null {
  if (line['type'] === 'system') return systemLine(line);
  const isMessage = line['type'] === 'user' || line['type'] === 'assistant';
  return isMessage && isRecord(line['message']) ? messageLine(line, line['message']) : null;
}

type Fields = Readonly<Record<string, unknown>>;

function placeOf(line: Fields): LinePlace {
  const at = Date.parse(text(line['timestamp']) ?? '');
  return {
    uuid: text(line['uuid']),
    at: Number.isNaN(at) ? null : at,
    cwd: text(line['cwd']),
    isSidechain: line['isSidechain'] === true,
  };
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Field by field: with a spread, thousands of lines take V8 many times as long. */
function messageLine(line: Fields, message: Fields): StoredLine {
  const { said, unknownBlocks } = saidIn(line, message);
  const { uuid, at, cwd, isSidechain } = placeOf(line);
  return {
    uuid,
    at,
    cwd,
    isSidechain,
    type: 'message',
    message: said,
    isMeta: line['isMeta'] === true,
    isSummary: line['isCompactSummary'] === true,
    messageId: text(message['id']),
    model: text(message['model']),
    tokens: tokensIn(message['usage']),
    unknownBlocks,
  };
}

function saidIn(
  { type }: Fields,
  message: Fields,
): { said: Message; unknownBlocks: readonly string[] } {
  if (type === 'assistant') {
    const { blocks: content, unknown } = parseAssistantBlocks(message['content']);
    return { said: { role: 'assistant', content }, unknownBlocks: unknown };
  }
  const { blocks: content, unknown } = parseUserBlocks(message['content']);
  return { said: { role: 'user', content }, unknownBlocks: unknown };
}

const COUNTED = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
];

function tokensIn(usage: unknown): number | null {
  if (!isRecord(usage)) return null;
  return COUNTED.reduce((sum, name) => sum + count(usage[name]), 0);
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function systemLine(line: Fields): StoredLine | null {
  const { subtype, level } = line;
  if (subtype === 'compact_boundary') return boundary(line);
  if (subtype === 'tool_deferred') return deferral(line);
  const words = text(line['content']);
  if (subtype !== 'informational' || words === null) return null;
  return { ...placeOf(line), type: 'note', level: text(level) ?? 'info', text: words };
}

function boundary(line: Fields): StoredLine {
  const { trigger, preTokens } = isRecord(line['compactMetadata']) ? line['compactMetadata'] : {};
  return {
    ...placeOf(line),
    type: 'compaction',
    trigger: text(trigger) ?? 'auto',
    tokensBefore: count(preTokens),
  };
}

function deferral(line: Fields): StoredLine | null {
  const call = isRecord(line['toolUse']) ? parseToolUse(line['toolUse']) : null;
  return call === null ? null : { ...placeOf(line), type: 'deferral', call };
}
