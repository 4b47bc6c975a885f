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

/** What a message has besides its role and its content. */
export type MessageHead = Omit<AgentMessage, 'role' | 'content'>;

/** Facts about a message besides its content. */
export interface MessageNote extends MessageHead {
  /** Results of calls by their ids, where more than the text is known. */
  readonly results?: ReadonlyMap<string, CallResult>;
}

export type CallResult = Pick<AgentToolResultPart, 'toolName' | 'output' | 'isError'>;

export type GetNote = (message: Message) => MessageNote;

/** The message that a block belongs to, and the parts of it that became the block. */
interface Origin {
  readonly head: MessageHead;
  readonly parts: readonly AgentMessagePart[];
}

/**
 * Where blocks came from, as far as their own fields do not tell it: the message of a program or plugin, the
 * value that a tool returned. By block, because a request regroups the blocks of a conversation.
 */
const origins = new WeakMap<Block, Origin>();

type Block = AssistantBlock | UserBlock;

/** Makes the blocks convert to this message; all of its parts stand for the first block. */
export function recordMessage(
  blocks: readonly Block[],
  { role: _role, content, ...head }: AgentMessage,
): void {
  const [first, ...others] = blocks;
  if (first !== undefined) origins.set(first, { head, parts: content });
  for (const block of others) origins.set(block, { head, parts: [] });
}

/** Makes the blocks of a message convert to what is known of it here, also in a request. */
export function recordNote({ content }: Message, { results, ...head }: MessageNote): void {
  for (const block of content) {
    if (origins.has(block)) continue;
    if (block.type !== 'tool_result') {
      origins.set(block, { head, parts: [toAnyPart(block)] });
      continue;
    }
    const { tool_use_id: callId } = block;
    const part = { ...toResultPart(block, ''), ...results?.get(callId) };
    origins.set(block, { head: createResultHead(callId, head.createdAt), parts: [part] });
  }
}

/** The note of a message that a program or plugin gave; null for one of the agent. */
export function findGivenHead({ content }: Message): MessageHead | null {
  const [first] = content;
  return first === undefined ? null : (origins.get(first)?.head ?? null);
}

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
    if (message.role === 'user') {
      return groupByMessage(message.content, note).flatMap((group) =>
        toUserMessages(group.blocks, names, group.note),
      );
    }
    return groupByMessage(message.content, note).map((group) => {
      const parts = group.blocks.flatMap((block) => copyParts(block) ?? [convertPart(block)]);
      return createAgentMessage('assistant', group.note, parts);
    });
  });
}

/** Separates what a request has joined: blocks next to each other that belong to different messages. */
function groupByMessage<Each extends Block>(
  content: readonly Each[],
  note: MessageNote,
): readonly { readonly note: MessageNote; readonly blocks: readonly Each[] }[] {
  if (content.length === 0) return [{ note, blocks: content }];
  const groups: { readonly head: MessageHead | null; readonly blocks: Each[] }[] = [];
  for (const block of content) {
    const head = origins.get(block)?.head ?? null;
    const last = groups.at(-1);
    if (last !== undefined && last.head === head) last.blocks.push(block);
    else groups.push({ head, blocks: [block] });
  }
  return groups.map(({ head, blocks }) => ({
    note: head === null ? note : { ...note, ...head },
    blocks,
  }));
}

/** Copies, because plugins may change what they get. */
function copyParts(block: Block): AgentMessagePart[] | null {
  return origins.get(block)?.parts.map((part) => ({ ...part })) ?? null;
}

export function createAgentMessage(
  role: AgentMessage['role'],
  { id, createdAt, metadata, modelInfo, metrics }: MessageHead,
  content: AgentMessagePart[],
): AgentMessage {
  return {
    id,
    role,
    content,
    createdAt,
    ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
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
      const { id: toolCallId, name: toolName, input, metadata } = block;
      const part = { type: 'tool-call', toolCallId, toolName, input } as const;
      return metadata === undefined ? part : { ...part, metadata: { ...metadata } };
    }
    case 'media':
      return { type: 'media', media: block.media };
  }
}

function toAnyPart(block: Exclude<Block, ToolResultBlock>): AgentMessagePart {
  return block.type === 'image' ? toWordPart(block) : toPluginPart(block);
}

/** Plugins get results of tools as separate messages. */
function toUserMessages(
  content: readonly UserBlock[],
  names: ReadonlyMap<string, string>,
  note: MessageNote,
): AgentMessage[] {
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
  const words = content.flatMap((block) =>
    block.type === 'tool_result' ? [] : (copyParts(block) ?? [toWordPart(block)]),
  );
  const userMessages = words.length === 0 ? [] : [createUserMessage(content, note, words)];
  const answers = results.map((block) => {
    const { tool_use_id: callId } = block;
    const parts = copyParts(block);
    if (parts !== null) return createAgentMessage('tool', note, parts);
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
  return createAgentMessage('tool', createResultHead(part.toolCallId, createdAt), [part]);
}

function createResultHead(callId: string, createdAt: number): MessageHead {
  return { id: `result-${callId}`, createdAt };
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
  return messages.map(({ role, content, ...given }, index) => {
    const head = { ...given, id: given.id ?? `message-${index}`, createdAt: given.createdAt ?? 0 };
    const convert = <Each extends Block>(toBlocks: (part: AgentMessagePart) => Each[]): Each[] =>
      content.flatMap((part) => {
        const blocks = toBlocks(part);
        for (const block of blocks) origins.set(block, { head, parts: [{ ...part }] });
        return blocks;
      });
    return role === 'assistant'
      ? { role, content: convert(toAssistantBlocks) }
      : { role: 'user', content: convert(toUserBlocks) };
  });
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
    case 'tool-call': {
      const { toolCallId: id, toolName: name, input, metadata } = part;
      const block = { type: 'tool_use', id, name, input: input ?? {} } as const;
      return [metadata === undefined ? block : { ...block, metadata }];
    }
    case 'media':
      return [{ type: 'media', media: part.media }];
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
