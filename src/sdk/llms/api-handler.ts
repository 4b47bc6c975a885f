import type { ProviderMessage } from '../../plugins/contract/message.ts';
import type { ModelInfo } from './model-collection.ts';

/** Code that makes a model's answers, as `@cline/llms` knows it. */
export interface ApiHandler {
  getMessages(systemPrompt: string, messages: ProviderMessage[]): unknown;
  createMessage(
    systemPrompt: string,
    messages: ProviderMessage[],
    tools?: ToolDefinition[],
  ): ApiStream;
  getModel(): HandlerModelInfo;
  /** What the last answer took, where the stream does not say. */
  getApiStreamUsage?(): Promise<ApiStreamUsageChunk | undefined>;
  abort?(): void;
  setAbortSignal?(signal: AbortSignal | undefined): void;
}

export interface HandlerModelInfo {
  id: string;
  info: ModelInfo;
}

export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

export type ApiStream = AsyncGenerator<ApiStreamChunk> & { id?: string };

export type ApiStreamChunk =
  | ApiStreamTextChunk
  | ApiStreamMediaChunk
  | ApiStreamReasoningChunk
  | ApiStreamUsageChunk
  | ApiStreamToolCallsChunk
  | ApiStreamDoneChunk;

export interface ApiStreamTextChunk {
  type: 'text';
  text: string;
  /** Of the answer, as in every chunk. */
  id: string;
  signature?: string;
}

export interface ApiStreamMediaChunk {
  type: 'media';
  media: unknown;
  id: string;
}

export interface ApiStreamReasoningChunk {
  type: 'reasoning';
  reasoning: string;
  details?: unknown;
  signature?: string;
  redacted_data?: string;
  id: string;
}

/** Those of one answer add up. */
export interface ApiStreamUsageChunk {
  type: 'usage';
  inputTokens: number;
  outputTokens: number;
  cacheWriteTokens?: number;
  cacheReadTokens?: number;
  thoughtsTokenCount?: number;
  /** US dollars. */
  totalCost?: number;
  id: string;
}

export interface ApiStreamToolCallsChunk {
  type: 'tool_calls';
  tool_call: ApiStreamToolCall;
  id: string;
  signature?: string;
}

export interface ApiStreamToolCall {
  call_id?: string;
  function: {
    id?: string;
    name?: string;
    /** A text is part of the whole, an object is the whole. */
    arguments?: string | Record<string, unknown>;
  };
}

export interface ApiStreamDoneChunk {
  type: 'done';
  success: boolean;
  error?: string;
  /** Such as `max_output_tokens`. */
  incompleteReason?: string;
  id: string;
}

/** What a handler is made with. */
export interface ProviderConfig {
  providerId: string;
  modelId: string;
  /** A provider of Hookline's own that does the work under another id. */
  routingProviderId?: string | undefined;
  clientType?: string;
  apiKey?: string;
  baseUrl?: string;
  headers?: Record<string, string>;
  fetch?: typeof globalThis.fetch;
  modelInfo?: ModelInfo;
  knownModels?: Record<string, ModelInfo>;
  maxOutputTokens?: number;
  temperature?: number;
  reasoningEffort?: string;
  thinking?: boolean;
  abortSignal?: AbortSignal;
  [further: string]: unknown;
}

export type HandlerFactory<Config = ProviderConfig> = (config: Config) => ApiHandler;
export type LazyHandlerFactory<Config = ProviderConfig> = (config: Config) => Promise<ApiHandler>;
