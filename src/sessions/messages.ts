/** A conversation in the blocks of Claude's transcripts, because hooks read the stored files. */
export type Message = UserMessage | AssistantMessage;

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly UserBlock[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantBlock[];
}

export type UserBlock = TextBlock | ImageBlock | ToolResultBlock;
export type AssistantBlock = TextBlock | ThinkingBlock | ToolUseBlock;

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageBlock {
  readonly type: 'image';
  readonly source: {
    readonly type: 'base64';
    readonly media_type: string;
    readonly data: string;
  };
}

export interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  /** The provider requires it back with the block. */
  readonly signature?: string;
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string | readonly (TextBlock | ImageBlock)[];
  readonly is_error?: boolean;
}

export function createUserMessage(text: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** All text of a message, without thinking and tool calls. */
export function getMessageText({ content }: Message): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

/** The tool calls of an assistant's message, in its order. */
export function getToolCalls({ content }: Message): readonly ToolUseBlock[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
}
