import type { AssistantContent, ModelMessage, ToolContent, UserContent } from 'ai';
import { isRecord } from '../../base/json.ts';
import type {
  AssistantBlock,
  AssistantMessage,
  ImageBlock,
  Message,
  TextBlock,
  ToolResultBlock,
  UserMessage,
} from '../../sessions/messages.ts';
import { toReasoning, type WireFormat } from './reasoning.ts';

/** Converts a conversation to AI SDK messages for a wire format. */
export function toSdkMessages(messages: readonly Message[], wire: WireFormat): ModelMessage[] {
  const names = collectToolNames(messages);
  return messages.flatMap((message) =>
    message.role === 'assistant'
      ? convertAssistantMessage(message, wire)
      : convertUserMessage(message, names, wire),
  );
}

function collectToolNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const blocks = messages.flatMap(({ content }): readonly { readonly type: string }[] => content);
  return new Map(blocks.filter(isToolUse).map(({ id, name }) => [id, name]));
}

function isToolUse(block: {
  readonly type: string;
}): block is Extract<AssistantBlock, { type: 'tool_use' }> {
  return block.type === 'tool_use';
}

type AssistantPart = Exclude<AssistantContent, string>[number];
type ToolPart = ToolContent[number];
type UserPart = Exclude<UserContent, string>[number];
type TextOrCallPart = Extract<AssistantPart, { type: 'text' | 'tool-call' }>;
type ProviderOptions = NonNullable<TextOrCallPart['providerOptions']>;

function convertAssistantMessage({ content }: AssistantMessage, wire: WireFormat): ModelMessage[] {
  const parts: AssistantPart[] = [];
  // Gemini expects its signature on the part after the reasoning.
  let nextOptions: ProviderOptions | null = null;
  for (const block of content) {
    if (block.type === 'thinking') {
      const thought = toReasoning(block, wire);
      if (thought?.place === 'here') parts.push(thought.part);
      else nextOptions = thought?.options ?? null;
      continue;
    }
    const part = toAssistantPart(block);
    if (part === null) continue;
    parts.push(nextOptions === null ? part : { ...part, providerOptions: nextOptions });
    nextOptions = null;
  }
  return parts.length === 0 ? [] : [{ role: 'assistant', content: parts }];
}

/** Services reject blank texts, and arguments that are not an object. */
function toAssistantPart(
  block: Exclude<AssistantBlock, { type: 'thinking' }>,
): TextOrCallPart | null {
  if (block.type === 'text') {
    return block.text.trim() === '' ? null : { type: 'text', text: block.text };
  }
  // No service takes back what another model made.
  if (block.type === 'media') return { type: 'text', text: `[${block.media.mediaType}]` };
  return {
    type: 'tool-call',
    toolCallId: block.id,
    toolName: block.name,
    input: isRecord(block.input) ? block.input : { unreadable: block.input },
  };
}

/** Tool results come first, because services require them right after the calls. */
function convertUserMessage(
  { content }: UserMessage,
  names: ReadonlyMap<string, string>,
  wire: WireFormat,
): ModelMessage[] {
  const results = content.filter((block) => block.type === 'tool_result');
  const otherBlocks = content.filter((block) => block.type !== 'tool_result');
  const toolParts = results.map((result) => toResultPart(result, names, wire));
  const userParts = [...(wire === 'chat' ? listImages(results) : []), ...otherBlocks].flatMap(
    toUserParts,
  );
  return [
    ...(toolParts.length === 0 ? [] : [{ role: 'tool' as const, content: toolParts }]),
    ...(userParts.length === 0 ? [] : [{ role: 'user' as const, content: userParts }]),
  ];
}

function toUserParts(block: TextBlock | ImageBlock): UserPart[] {
  if (block.type === 'text') {
    return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }];
  }
  const { data, media_type: mediaType } = block.source;
  return [{ type: 'file', data, mediaType }];
}

/** The chat format has no images in results, so they follow as user content. */
function listImages(results: readonly ToolResultBlock[]): readonly ImageBlock[] {
  return results.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter(isImage),
  );
}

function isImage(block: TextBlock | ImageBlock): block is ImageBlock {
  return block.type === 'image';
}

function toResultPart(
  { tool_use_id: id, content, is_error: isError }: ToolResultBlock,
  names: ReadonlyMap<string, string>,
  wire: WireFormat,
): ToolPart {
  const result = {
    type: 'tool-result' as const,
    toolCallId: id,
    toolName: names.get(id) ?? 'unknown',
  };
  const text = formatResult(content);
  const images = typeof content === 'string' ? [] : content.filter(isImage);
  if (images.length === 0 || wire === 'chat') {
    return { ...result, output: { type: isError === true ? 'error-text' : 'text', value: text } };
  }
  const pictures = images.map(({ source: { data, media_type: mediaType } }) => ({
    type: 'image-data' as const,
    data,
    mediaType,
  }));
  return { ...result, output: { type: 'content', value: [{ type: 'text', text }, ...pictures] } };
}

function formatResult(content: ToolResultBlock['content']): string {
  if (typeof content === 'string') return content;
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return text === '' && content.some(isImage) ? '(an image)' : text;
}
