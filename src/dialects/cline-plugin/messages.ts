import type { AgentMessage, AgentMessagePart } from '../../plugins/contract/message.ts';
import type {
  AssistantBlock,
  ImageBlock,
  Message,
  TextBlock,
  ToolResultBlock,
  UserBlock,
} from '../../sessions/messages.ts';

/** A conversation as plugins know it. */
export function toAgentMessages(messages: readonly Message[]): AgentMessage[] {
  return agentMessagesFrom(messages, 0, toolNames(messages));
}

/** Those from a place on; `names` knows the tool of each call. */
export function agentMessagesFrom(
  messages: readonly Message[],
  start: number,
  names: ReadonlyMap<string, string>,
): AgentMessage[] {
  return messages.slice(start).flatMap((message, place) => {
    const id = `message-${start + place}`;
    return message.role === 'assistant'
      ? [agentMessage('assistant', id, message.content.map(assistantPart))]
      : userMessages(message.content, names, id);
  });
}

export function agentMessage(
  role: AgentMessage['role'],
  id: string,
  content: AgentMessagePart[],
): AgentMessage {
  return { id, role, content, createdAt: 0 };
}

/** The tool of each call, by the call's id. */
export function toolNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'tool_use') names.set(block.id, block.name);
  }
  return names;
}

export function assistantPart(block: AssistantBlock): AgentMessagePart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'thinking': {
      const { thinking: text, signature } = block;
      const part = { type: 'reasoning', text } as const;
      return signature === undefined ? part : { ...part, metadata: { signature } };
    }
    case 'tool_use': {
      const { id: toolCallId, name: toolName, input } = block;
      return { type: 'tool-call', toolCallId, toolName, input };
    }
  }
}

/** Results of tools are messages of their own there. */
function userMessages(
  content: readonly UserBlock[],
  names: ReadonlyMap<string, string>,
  id: string,
): AgentMessage[] {
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
  const words = content.flatMap((block) => (block.type === 'tool_result' ? [] : [wordPart(block)]));
  const said = words.length === 0 ? [] : [agentMessage('user', id, words)];
  const answers = results.map((block) =>
    agentMessage('tool', `${id}-${block.tool_use_id}`, [
      resultPart(block, names.get(block.tool_use_id) ?? ''),
    ]),
  );
  return [...answers, ...said];
}

function wordPart(block: TextBlock | ImageBlock): AgentMessagePart {
  if (block.type === 'text') return { type: 'text', text: block.text };
  return { type: 'image', image: block.source.data, mediaType: block.source.media_type };
}

function resultPart(block: ToolResultBlock, toolName: string): AgentMessagePart {
  const { tool_use_id: toolCallId, content, is_error: isError } = block;
  const output: unknown = typeof content === 'string' ? content : content.map(wordPart);
  const part = { type: 'tool-result', toolCallId, toolName, output } as const;
  return isError === true ? { ...part, isError } : part;
}

/** What plugins made of it, as the agent knows it. Whoever uses it checks it once more. */
export function fromAgentMessages(messages: readonly AgentMessage[]): readonly Message[] {
  return messages.map((message) =>
    message.role === 'assistant'
      ? { role: 'assistant', content: message.content.flatMap(assistantBlock) }
      : { role: 'user', content: message.content.flatMap(userBlock) },
  );
}

function assistantBlock(part: AgentMessagePart): AssistantBlock[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'reasoning': {
      const signature = part.metadata?.['signature'];
      const block = { type: 'thinking', thinking: part.text } as const;
      return [typeof signature === 'string' ? { ...block, signature } : block];
    }
    case 'tool-call':
      return [
        { type: 'tool_use', id: part.toolCallId, name: part.toolName, input: part.input ?? {} },
      ];
    default:
      return [];
  }
}

function userBlock(part: AgentMessagePart): UserBlock[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image':
      return [imageBlock(part.image, part.mediaType)];
    case 'file':
      return [{ type: 'text', text: fileText(part.path, part.content) }];
    case 'tool-result': {
      const { toolCallId: id, output, isError } = part;
      const block: ToolResultBlock = {
        type: 'tool_result',
        tool_use_id: id,
        content: outputContent(output),
      };
      return [isError === true ? { ...block, is_error: true } : block];
    }
    default:
      return [];
  }
}

export function imageBlock(data: string, mediaType = 'image/png'): ImageBlock {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

export function fileText(file: string, content: string): string {
  return `<file path="${file}">\n${content}\n</file>`;
}

function outputContent(output: unknown): ToolResultBlock['content'] {
  if (typeof output === 'string') return output;
  if (!Array.isArray(output)) return JSON.stringify(output) ?? '';
  const blocks = output.map((each: unknown) => outputBlock(each));
  return blocks.every((block) => block !== null) ? blocks : JSON.stringify(output);
}

function outputBlock(each: unknown): TextBlock | ImageBlock | null {
  if (typeof each !== 'object' || each === null || !('type' in each)) return null;
  if (each.type === 'text' && 'text' in each && typeof each.text === 'string') {
    return { type: 'text', text: each.text };
  }
  if (each.type !== 'image' || !('image' in each) || typeof each.image !== 'string') return null;
  const mediaType = 'mediaType' in each ? each.mediaType : undefined;
  return imageBlock(each.image, typeof mediaType === 'string' ? mediaType : undefined);
}
