import { isRecord } from '../../base/json.ts';
import type {
  AssistantBlock,
  ImageBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../messages.ts';

export interface ParsedBlocks<Block> {
  readonly blocks: readonly Block[];
  /** The types of those that mean nothing here. */
  readonly unknown: readonly string[];
}

/** What a user's line holds: a text, or blocks. */
export function parseUserBlocks(content: unknown): ParsedBlocks<UserBlock> {
  return parseBlocks(content, parseUserBlock);
}

/** What an assistant's line holds: a text, or blocks. */
export function parseAssistantBlocks(content: unknown): ParsedBlocks<AssistantBlock> {
  return parseBlocks(content, parseAssistantBlock);
}

type BlockFields = Readonly<Record<string, unknown>>;

function parseBlocks<Block>(
  content: unknown,
  parse: (block: BlockFields) => Block | TextBlock | null,
): ParsedBlocks<Block | TextBlock> {
  if (typeof content === 'string') {
    return { blocks: [{ type: 'text', text: content }], unknown: [] };
  }
  const blocks: (Block | TextBlock)[] = [];
  const unknown: string[] = [];
  for (const each of Array.isArray(content) ? content : []) {
    const block = isRecord(each) ? parse(each) : null;
    if (block === null) unknown.push(typeOf(each));
    else blocks.push(block);
  }
  return { blocks, unknown };
}

function typeOf(block: unknown): string {
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

/** A tool call, also where it stands for itself. */
export function parseToolUse({ id, name, input }: BlockFields): ToolUseBlock | null {
  if (typeof id !== 'string' || typeof name !== 'string') return null;
  return { type: 'tool_use', id, name, input: input ?? {} };
}
