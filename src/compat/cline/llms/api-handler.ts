import type { ModelFailure, ModelToolActivity } from '../../../agent/models/model.ts';
import type { ProviderMessage } from '../../../plugins/contract/message.ts';

/** Code that answers as a model, in the interface of `@cline/llms`. */
export interface ApiHandler {
  getMessages(systemPrompt: string, messages: ProviderMessage[]): unknown;
  createMessage(
    systemPrompt: string,
    messages: ProviderMessage[],
    tools?: ToolDefinition[],
  ): ApiStream;
  getModel(): HandlerModelInfo;
  /** The usage of the last answer, where the stream does not have it. */
  getApiStreamUsage?(): Promise<Extract<ApiStreamChunk, { type: 'usage' }> | undefined>;
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

/** A piece of an answer; `id` is that of the answer. */
export type ApiStreamChunk =
  | { type: 'text'; text: string; id: string; signature?: string }
  | { type: 'media'; media: unknown; id: string }
  /** A call that the service makes itself; only models of standalone agents report it. */
  | { type: 'model_tool'; activity: ModelToolActivity; id: string }
  | {
      type: 'reasoning';
      reasoning: string;
      details?: unknown;
      signature?: string;
      redacted_data?: string;
      id: string;
    }
  /** Those of one answer add up. */
  | {
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
  | {
      type: 'tool_calls';
      tool_call: {
        call_id?: string;
        metadata?: unknown;
        function: {
          id?: string;
          name?: string;
          /** A text is part of the input, an object is all of it. */
          arguments?: string | Record<string, unknown>;
        };
      };
      id: string;
      signature?: string;
    }
  | {
      type: 'done';
      success: boolean;
      error?: string;
      /** Such as `max_output_tokens`. */
      incompleteReason?: string;
      /** What exactly failed, where Hookline knows it. */
      failure?: ModelFailure;
      id: string;
    };

/** The configuration that a handler is created with. */
export interface ProviderConfig {
  providerId: string;
  modelId: string;
  /** The provider of Hookline that answers for this id. */
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

/** A provider and its models, as `@cline/llms` describes them. */
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
  /** Environment variables that may hold its key, in this order. */
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
  /** The longest answer, in tokens. */
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
