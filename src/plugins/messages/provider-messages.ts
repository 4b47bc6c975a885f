import { isRecord } from '../../base/json.ts';
import type { ContentBlock, ProviderMessage } from '../contract/message.ts';
import type {
  AssistantBlock,
  ImageBlock,
  Message,
  TextBlock,
  ToolResultBlock,
  UserBlock,
} from '../../sessions/messages.ts';
import {
  formatFileText,
  createImageBlock,
  readMetadata,
  collectToolNames,
} from './agent-messages.ts';

/** Converts a conversation for message builders: Claude's blocks, except for images and names of results. */
export function toProviderMessages(messages: readonly Message[]): ProviderMessage[] {
  const names = collectToolNames(messages);
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((block) => toProviderBlock(block, names)),
  }));
}

/** The same with an id by index, and with metadata that providers do not get. */
export function toKeptMessages(messages: readonly Message[]): ProviderMessage[] {
  const metadata = messages.map(({ role, content }) =>
    role === 'user' ? readMetadata(content) : null,
  );
  return toProviderMessages(messages).map((message, place) => {
    const identified = { id: `message-${place}`, ...message };
    const fields = metadata[place] ?? null;
    return fields === null ? identified : { ...identified, metadata: fields };
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
  const { type, text, thinking, signature, id, name, input } = block;
  if (type === 'text' && typeof text === 'string') return [{ type, text }];
  if (type === 'thinking' && typeof thinking === 'string') {
    return [typeof signature === 'string' ? { type, thinking, signature } : { type, thinking }];
  }
  const isCall = type === 'tool_use' && typeof id === 'string' && typeof name === 'string';
  return isCall ? [{ type: 'tool_use', id, name, input }] : [];
}

function toUserBlocks(block: unknown): UserBlock[] {
  if (!isRecord(block)) return [];
  const { type, tool_use_id: id, content, is_error: isError } = block;
  if (type !== 'tool_result') return toShownBlocks(block);
  if (typeof id !== 'string') return [];
  const blocks: ToolResultBlock['content'] =
    typeof content === 'string' ? content : toList(content).flatMap(toShownBlocks);
  const result: ToolResultBlock = { type, tool_use_id: id, content: blocks };
  return [isError === true ? { ...result, is_error: true } : result];
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
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
