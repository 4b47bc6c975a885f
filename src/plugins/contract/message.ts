/** A message of a conversation, in the form that plugins use. */
export interface AgentMessage {
  id: string;
  role: 'user' | 'assistant' | 'tool';
  content: AgentMessagePart[];
  /** Milliseconds since the epoch. */
  createdAt: number;
  metadata?: Record<string, unknown>;
  modelInfo?: { id: string; provider: string; family?: string };
  metrics?: AgentMessageMetrics;
}

export interface AgentMessageMetrics {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokenCount?: number;
  cost?: number;
}

export type AgentMessagePart =
  | AgentTextPart
  | AgentReasoningPart
  | AgentImagePart
  | AgentFilePart
  | AgentMediaPart
  | AgentToolCallPart
  | AgentToolResultPart;

export interface AgentTextPart {
  type: 'text';
  text: string;
}

export interface AgentReasoningPart {
  type: 'reasoning';
  text: string;
  redacted?: boolean;
  metadata?: Record<string, unknown>;
}

export interface AgentImagePart {
  type: 'image';
  image: string;
  mediaType?: string;
}

export interface AgentFilePart {
  type: 'file';
  path: string;
  content: string;
}

/** A file that the model made. */
export interface AgentMediaPart {
  type: 'media';
  media: GeneratedMedia;
}

export interface GeneratedMedia {
  id: string;
  modality: 'image' | 'audio' | 'video' | 'file';
  mediaType: string;
  source:
    | { type: 'base64'; data: string }
    | { type: 'url'; url: string }
    | { type: 'artifact'; artifactId: string };
  name?: string;
  sizeBytes?: number;
}

export interface AgentToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: unknown;
  metadata?: Record<string, unknown>;
  /** Who runs a tool of the model's own; absent for those that the agent runs. */
  execution?: ModelToolExecution;
}

export type ModelToolExecution = 'client' | 'provider';

/** A call of a tool that the agent did not run, as the metadata of an answer records it. */
export interface AgentModelToolActivity {
  toolCallId: string;
  toolName: string;
  execution: ModelToolExecution;
  input?: unknown;
  output?: unknown;
  isError?: boolean;
}

export interface AgentToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: unknown;
  isError?: boolean;
  execution?: ModelToolExecution;
}

/** A message in the form that is sent to a model's service; message builders get and return it. */
export interface ProviderMessage {
  role: 'user' | 'assistant';
  content: string | ContentBlock[];
  id?: string;
  ts?: number;
  metadata?: Record<string, unknown>;
  modelInfo?: { id: string; provider: string; family?: string };
  metrics?: AgentMessageMetrics;
}

export type ContentBlock =
  | TextContent
  | ImageContent
  | FileContent
  | ToolUseContent
  | ToolResultContent
  | ThinkingContent
  | MediaContent;

export interface TextContent {
  type: 'text';
  text: string;
}

export interface ImageContent {
  type: 'image';
  /** Base64. */
  data: string;
  mediaType: string;
}

export interface FileContent {
  type: 'file';
  path: string;
  content: string;
}

export interface ToolUseContent {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
}

export interface ToolResultContent {
  type: 'tool_result';
  tool_use_id: string;
  name?: string;
  /** A text, blocks, or the list that a tool returned. */
  content: string | (ContentBlock | Record<string, unknown>)[];
  is_error?: boolean;
}

export interface MediaContent {
  type: 'media';
  media: GeneratedMedia;
}

export interface ThinkingContent {
  type: 'thinking';
  thinking: string;
  signature?: string;
}

const CHARACTERS_PER_TOKEN = 4;

/** Estimates the number of tokens of a text, or of a number of characters. */
export function estimateTokens(textOrLength: number | string): number {
  const characters = typeof textOrLength === 'string' ? textOrLength.length : textOrLength;
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
