import { isRecord } from '../base/json.ts';

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
export type AssistantBlock = TextBlock | ThinkingBlock | ToolUseBlock | MediaBlock;

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
  /** What a model of a program wants back with the call. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A file that the model made; only a model of a program makes one, and only such a model gets it back. */
export interface MediaBlock {
  readonly type: 'media';
  readonly media: {
    readonly id: string;
    readonly modality: 'image' | 'audio' | 'video' | 'file';
    readonly mediaType: string;
    readonly source:
      | { readonly type: 'base64'; readonly data: string }
      | { readonly type: 'url'; readonly url: string }
      | { readonly type: 'artifact'; readonly artifactId: string };
    readonly name?: string;
    readonly sizeBytes?: number;
  };
}

const MODALITIES: readonly unknown[] = ['image', 'audio', 'video', 'file'];

/** Whether a value of foreign code is a generated file. */
export function isMedia(value: unknown): value is MediaBlock['media'] {
  if (!isRecord(value)) return false;
  const { id, modality, mediaType, source } = value;
  const isNamed = typeof id === 'string' && typeof mediaType === 'string';
  return isNamed && MODALITIES.includes(modality) && isRecord(source);
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

/** Prefixes of user messages that the agent wrote, not the user. */
export const REMINDER_START = '<system-reminder>';
export const SUMMARY_START =
  'This session is being continued from an earlier conversation that grew too long. Its summary:';

/** What a user message is, when no part of it was written by the user; else null. */
export function getSyntheticKind(content: readonly UserBlock[]): 'summary' | 'reminder' | null {
  const isEachStartingWith = (start: string): boolean =>
    content.length > 0 &&
    content.every((block) => block.type === 'text' && block.text.startsWith(start));
  if (isEachStartingWith(SUMMARY_START)) return 'summary';
  return isEachStartingWith(REMINDER_START) ? 'reminder' : null;
}
