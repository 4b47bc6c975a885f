import { dropUndefined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { ContentBlock, ProviderMessage } from '../contract/message.ts';
import {
  type AssistantBlock,
  type ImageBlock,
  isMedia,
  type Message,
  type TextBlock,
  type ToolResultBlock,
  type UserBlock,
} from '../../sessions/messages.ts';
import {
  formatFileText,
  createImageBlock,
  type GetNote,
  type MessageNote,
  readMetadata,
  collectToolNames,
} from './agent-messages.ts';

/** Converts a conversation for message builders: Claude's blocks, except for images and names of results. */
export function toProviderMessages(messages: readonly Message[]): ProviderMessage[] {
  const names = collectToolNames(messages);
  return messages.map((message) => ({
    role: message.role,
    content: toProviderContent(message, names),
  }));
}

function toProviderContent(
  { content }: Message,
  names: ReadonlyMap<string, string>,
): ContentBlock[] {
  return content.map((block) => toProviderBlock(block, names));
}

/**
 * The same with what providers do not get: metadata, an id by index, and the facts of a note (time, model,
 * usage, results of calls as their tools returned them).
 */
export function toKeptMessages(
  messages: readonly Message[],
  getNote: GetNote | null = null,
): ProviderMessage[] {
  const names = collectToolNames(messages);
  return messages.map((message, place) => {
    const content = toProviderContent(message, names);
    const note = getNote?.(message) ?? null;
    const metadata = message.role === 'user' ? readMetadata(message.content) : null;
    return {
      id: `message-${place}`,
      role: message.role,
      content: note === null ? content : withResults(content, note),
      ...(note === null ? {} : describeNote(note)),
      ...(metadata === null ? {} : { metadata }),
    };
  });
}

function describeNote({ createdAt: ts, modelInfo, metrics }: MessageNote) {
  return { ts, ...dropUndefined({ modelInfo, metrics }) };
}

/** A result that is a list stays one; all others are texts, as for the provider. */
function withResults(content: readonly ContentBlock[], { results }: MessageNote): ContentBlock[] {
  return content.map((block) => {
    if (block.type !== 'tool_result') return block;
    const output = results?.get(block.tool_use_id)?.output;
    return Array.isArray(output) ? { ...block, content: output } : block;
  });
}

function toProviderBlock(
  block: AssistantBlock | UserBlock,
  names: ReadonlyMap<string, string>,
): ContentBlock {
  switch (block.type) {
    case 'image':
      return { type: 'image', data: block.source.data, mediaType: block.source.media_type };
    case 'tool_result': {
      const { content } = block;
      return {
        ...block,
        name: names.get(block.tool_use_id) ?? '',
        content:
          typeof content === 'string'
            ? content
            : content.map((inner) => toProviderBlock(inner, names)),
      };
    }
    default:
      return { ...block };
  }
}

/** Converts messages of builders; returns a sentence about why they are invalid. */
export function fromProviderMessages(value: unknown): readonly Message[] | string {
  if (!Array.isArray(value)) return 'it did not give a list of messages';
  if (value.length === 0) return 'it gave no message at all';
  const messages = value.map(readMessage);
  const wrong = messages.findIndex((message) => message === null);
  if (wrong >= 0) return `message ${wrong + 1} of what it gave has no role and content`;
  return messages.filter((message) => message !== null);
}

function readMessage(value: unknown): Message | null {
  if (!isRecord(value)) return null;
  const { role, content } = value;
  const blocks: unknown = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(blocks)) return null;
  if (role === 'assistant') return { role, content: blocks.flatMap(toAssistantBlocks) };
  return role === 'user' ? { role, content: blocks.flatMap(toUserBlocks) } : null;
}

function toAssistantBlocks(block: unknown): AssistantBlock[] {
  if (!isRecord(block)) return [];
  const { type, text, thinking, signature, id, name, input, media } = block;
  if (type === 'text' && typeof text === 'string') return [{ type, text }];
  if (type === 'thinking' && typeof thinking === 'string') {
    return [typeof signature === 'string' ? { type, thinking, signature } : { type, thinking }];
  }
  if (type === 'media' && isMedia(media)) return [{ type, media }];
  const isCall = type === 'tool_use' && typeof id === 'string' && typeof name === 'string';
  return isCall ? [{ type: 'tool_use', id, name, input }] : [];
}

function toUserBlocks(block: unknown): UserBlock[] {
  if (!isRecord(block)) return [];
  const { type, tool_use_id: id, content, is_error: isError } = block;
  if (type !== 'tool_result') return toShownBlocks(block);
  if (typeof id !== 'string') return [];
  const result: ToolResultBlock = { type, tool_use_id: id, content: toResultContent(content) };
  return [isError === true ? { ...result, is_error: true } : result];
}

/** A list of other values than blocks is what a tool returned, and is sent as JSON. */
function toResultContent(content: unknown): ToolResultBlock['content'] {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return [];
  const blocks = content.map(toShownBlocks);
  return blocks.every((each) => each.length > 0) ? blocks.flat() : JSON.stringify(content);
}

function toShownBlocks(block: unknown): (TextBlock | ImageBlock)[] {
  if (!isRecord(block)) return [];
  const { type, text, data, mediaType, path, content } = block;
  if (type === 'text' && typeof text === 'string') return [{ type, text }];
  if (type === 'image' && typeof data === 'string') {
    return [createImageBlock(data, typeof mediaType === 'string' ? mediaType : undefined)];
  }
  if (type === 'file' && typeof path === 'string' && typeof content === 'string') {
    return [{ type: 'text', text: formatFileText(path, content) }];
  }
  return [];
}
