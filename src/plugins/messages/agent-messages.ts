import type { AgentMessage, AgentMessagePart, AgentToolResultPart } from '../contract/message.ts';
import {
  type AssistantBlock,
  type ImageBlock,
  type Message,
  type TextBlock,
  type ToolResultBlock,
  type UserBlock,
  getSyntheticKind,
} from '../../sessions/messages.ts';
import { toSdkCall } from './sdk-tool-names.ts';

/** Facts about a message besides its content. */
export interface MessageNote extends Pick<
  AgentMessage,
  'id' | 'createdAt' | 'modelInfo' | 'metrics'
> {
  /** Results of calls by their ids, where more than the text is known. */
  readonly results?: ReadonlyMap<string, CallResult>;
}

export type CallResult = Pick<AgentToolResultPart, 'toolName' | 'output' | 'isError'>;

export type GetNote = (message: Message) => MessageNote;

/** Converts a model request for plugins, which may change it; calls keep the model's tool names. */
export function toAgentMessages(messages: readonly Message[]): AgentMessage[] {
  return toAgentMessagesFrom(messages, 0, { names: collectToolNames(messages), getNote: null });
}

/** Converts a conversation for plugins; calls have Cline's tool names. */
export function toPluginMessages(messages: readonly Message[], getNote: GetNote): AgentMessage[] {
  return toAgentMessagesFrom(messages, 0, { names: collectToolNames(messages), getNote });
}

interface ConversionContext {
  /** The tool name of each call, by the call's id. */
  readonly names: ReadonlyMap<string, string>;
  /** Null for a request. */
  readonly getNote: GetNote | null;
}

/** Converts the messages from index `start` on. */
function toAgentMessagesFrom(
  messages: readonly Message[],
  start: number,
  { names, getNote }: ConversionContext,
): AgentMessage[] {
  const convertPart = getNote === null ? toAssistantPart : toPluginPart;
  return messages.slice(start).flatMap((message, place) => {
    const note = getNote?.(message) ?? { id: `message-${start + place}`, createdAt: 0 };
    return message.role === 'assistant'
      ? [createAgentMessage('assistant', note, message.content.map(convertPart))]
      : toUserMessages(message.content, names, note);
  });
}

export function createAgentMessage(
  role: AgentMessage['role'],
  { id, createdAt, modelInfo, metrics }: MessageNote,
  content: AgentMessagePart[],
): AgentMessage {
  return {
    id,
    role,
    content,
    createdAt,
    ...(modelInfo === undefined ? {} : { modelInfo: { ...modelInfo } }),
    ...(metrics === undefined ? {} : { metrics: { ...metrics } }),
  };
}

/** Collects the tool name of each call, by the call's id. */
export function collectToolNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'tool_use') names.set(block.id, block.name);
  }
  return names;
}

/** Converts a block; calls get Cline's tool names. */
export function toPluginPart(block: AssistantBlock): AgentMessagePart {
  return toAssistantPart(block.type === 'tool_use' ? { ...block, ...toSdkCall(block) } : block);
}

function toAssistantPart(block: AssistantBlock): AgentMessagePart {
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

/** Plugins get results of tools as separate messages. */
function toUserMessages(
  content: readonly UserBlock[],
  names: ReadonlyMap<string, string>,
  note: MessageNote,
): AgentMessage[] {
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
  const words = content.flatMap((block) =>
    block.type === 'tool_result' ? [] : [toWordPart(block)],
  );
  const userMessages = words.length === 0 ? [] : [createUserMessage(content, note, words)];
  const answers = results.map((block) => {
    const { tool_use_id: callId } = block;
    const part = toResultPart(block, names.get(callId) ?? '');
    return createResultMessage({ ...part, ...note.results?.get(callId) }, note.createdAt);
  });
  return [...answers, ...userMessages];
}

function createUserMessage(
  content: readonly UserBlock[],
  note: MessageNote,
  words: AgentMessagePart[],
): AgentMessage {
  const metadata = readMetadata(content.filter(({ type }) => type !== 'tool_result'));
  const message = createAgentMessage('user', note, words);
  return metadata === null ? message : { ...message, metadata };
}

/** Reads the metadata that marks a synthetic user message; null for one that the user wrote. */
export function readMetadata(content: readonly UserBlock[]): Record<string, unknown> | null {
  switch (getSyntheticKind(content)) {
    case 'summary':
      return { kind: 'compaction_summary', displayRole: 'system' };
    case 'reminder':
      return { displayRole: 'system', userRunSpan: 0 };
    case null:
      return null;
  }
}

/** Creates the message of a tool result; its id is derived from the call. */
export function createResultMessage(part: AgentToolResultPart, createdAt: number): AgentMessage {
  return createAgentMessage('tool', { id: `result-${part.toolCallId}`, createdAt }, [part]);
}

function toWordPart(block: TextBlock | ImageBlock): AgentMessagePart {
  if (block.type === 'text') return { type: 'text', text: block.text };
  return { type: 'image', image: block.source.data, mediaType: block.source.media_type };
}

function toResultPart(block: ToolResultBlock, toolName: string): AgentToolResultPart {
  const { tool_use_id: toolCallId, content, is_error: isError } = block;
  const output: unknown = typeof content === 'string' ? content : content.map(toWordPart);
  const part = { type: 'tool-result', toolCallId, toolName, output } as const;
  return isError === true ? { ...part, isError } : part;
}

/** Converts messages of plugins to those of the agent. The caller must validate them. */
export function fromAgentMessages(messages: readonly AgentMessage[]): readonly Message[] {
  return messages.map((message) =>
    message.role === 'assistant'
      ? { role: 'assistant', content: message.content.flatMap(toAssistantBlocks) }
      : { role: 'user', content: message.content.flatMap(toUserBlocks) },
  );
}

function toAssistantBlocks(part: AgentMessagePart): AssistantBlock[] {
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

function toUserBlocks(part: AgentMessagePart): UserBlock[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image':
      return [createImageBlock(part.image, part.mediaType)];
    case 'file':
      return [{ type: 'text', text: formatFileText(part.path, part.content) }];
    case 'tool-result': {
      const { toolCallId: id, output, isError } = part;
      const block: ToolResultBlock = {
        type: 'tool_result',
        tool_use_id: id,
        content: toOutputContent(output),
      };
      return [isError === true ? { ...block, is_error: true } : block];
    }
    default:
      return [];
  }
}

export function createImageBlock(data: string, mediaType = 'image/png'): ImageBlock {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

export function formatFileText(file: string, content: string): string {
  return `<file path="${file}">\n${content}\n</file>`;
}

function toOutputContent(output: unknown): ToolResultBlock['content'] {
  if (typeof output === 'string') return output;
  if (!Array.isArray(output)) return JSON.stringify(output) ?? '';
  const blocks = output.map((each: unknown) => toOutputBlock(each));
  return blocks.every((block) => block !== null) ? blocks : JSON.stringify(output);
}

function toOutputBlock(each: unknown): TextBlock | ImageBlock | null {
  if (typeof each !== 'object' || each === null || !('type' in each)) return null;
  if (each.type === 'text' && 'text' in each && typeof each.text === 'string') {
    return { type: 'text', text: each.text };
  }
  if (each.type !== 'image' || !('image' in each) || typeof each.image !== 'string') return null;
  const mediaType = 'mediaType' in each ? each.mediaType : undefined;
  return createImageBlock(each.image, typeof mediaType === 'string' ? mediaType : undefined);
}

/** Converts a conversation for plugins; only new messages are converted. */
export type IncrementalMessages = (messages: readonly Message[]) => readonly AgentMessage[];

/** Returns the same list, extended, while the conversation only grows. */
export function createIncrementalMessages(getNote: GetNote): IncrementalMessages {
  let converted = createEmpty();
  return (messages) => {
    if (!isContinued(messages, converted)) converted = createEmpty();
    const fresh = messages.slice(converted.count);
    for (const { content } of fresh) {
      for (const block of content) {
        if (block.type === 'tool_use') converted.names.set(block.id, block.name);
      }
    }
    const context = { names: converted.names, getNote };
    for (const each of toAgentMessagesFrom(messages, converted.count, context)) {
      converted.list.push(each);
    }
    converted.count = messages.length;
    converted.first ??= messages[0] ?? null;
    converted.last = messages.at(-1) ?? null;
    return converted.list;
  };
}

interface ConvertedMessages {
  readonly list: AgentMessage[];
  readonly names: Map<string, string>;
  count: number;
  first: Message | null;
  last: Message | null;
}

function createEmpty(): ConvertedMessages {
  return { list: [], names: new Map(), count: 0, first: null, last: null };
}

/**
 * Comparing the first and last message is enough: messages are immutable, and a compacted
 * conversation starts with another one.
 */
function isContinued(
  messages: readonly Message[],
  { count, first, last }: ConvertedMessages,
): boolean {
  if (count === 0) return true;
  return messages[0] === first && messages[count - 1] === last;
}
