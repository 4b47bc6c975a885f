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
