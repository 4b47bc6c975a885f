import type { ProviderMessage } from '../../../plugins/contract/message.ts';

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

interface ApiStreamTextChunk {
  type: 'text';
  text: string;
  /** Of the answer, as in every chunk. */
  id: string;
  signature?: string;
}

interface ApiStreamMediaChunk {
  type: 'media';
  media: unknown;
  id: string;
}

interface ApiStreamReasoningChunk {
  type: 'reasoning';
  reasoning: string;
  details?: unknown;
  signature?: string;
  redacted_data?: string;
  id: string;
}

/** Those of one answer add up. */
interface ApiStreamUsageChunk {
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

interface ApiStreamToolCallsChunk {
  type: 'tool_calls';
  tool_call: ApiStreamToolCall;
  id: string;
  signature?: string;
}

interface ApiStreamToolCall {
  call_id?: string;
  function: {
    id?: string;
    name?: string;
    /** A text is part of the whole, an object is the whole. */
    arguments?: string | Record<string, unknown>;
  };
}

interface ApiStreamDoneChunk {
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

/** A provider and its models, as `@cline/llms` knows them. */
export interface ModelCollection {
  provider: ProviderInfo;
  models: Record<string, ModelInfo>;
}

export interface ProviderInfo {
  id: string;
  name: string;
  description?: string;
  protocol?: ProviderProtocol;
  client: ProviderClient;
  baseUrl?: string;
  modelsSourceUrl?: string;
  defaultModelId: string;
  capabilities?: ProviderCapability[];
  /** Variables with its key, in this order. */
  env?: string[];
  source?: 'system' | 'file' | 'discovery';
  metadata?: Record<string, unknown>;
}

export type ProviderProtocol =
  | 'anthropic'
  | 'gemini'
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-r1'
  | 'ai-sdk';

export type ProviderClient =
  | 'anthropic'
  | 'ai-sdk'
  | 'ai-sdk-community'
  | 'openai'
  | 'openai-compatible'
  | 'openai-r1'
  | 'gemini'
  | 'bedrock'
  | 'custom'
  | 'fetch'
  | 'vertex';

export type ProviderCapability =
  | 'reasoning'
  | 'prompt-cache'
  | 'streaming'
  | 'tools'
  | 'vision'
  | 'computer-use'
  | 'oauth';

export interface ModelInfo {
  id: string;
  name?: string;
  description?: string;
  /** In tokens. */
  contextWindow?: number;
  maxInputTokens?: number;
  /** How long one answer may be, in tokens. */
  maxTokens?: number;
  capabilities?: ModelCapability[];
  pricing?: ModelPricing;
  [further: string]: unknown;
}

export type ModelCapability =
  | 'images'
  | 'tools'
  | 'streaming'
  | 'prompt-cache'
  | 'reasoning'
  | 'reasoning-effort'
  | 'computer-use'
  | 'global-endpoint'
  | 'structured_output'
  | 'temperature'
  | 'files'
  | 'video';

/** US dollars for a million tokens. */
export interface ModelPricing {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}
