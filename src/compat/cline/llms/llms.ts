import { registeredProviders } from '../../../agent/models/custom-provider.ts';
import { isBuiltInProvider, openModel } from '../../../agent/models/providers.ts';
import { dropUndefined } from '../../../base/defined.ts';
import { HooklineError } from '../../../base/errors.ts';
import { getTypeName } from '../../../base/json.ts';
import type {
  ApiHandler,
  HandlerFactory,
  LazyHandlerFactory,
  ProviderConfig,
  ModelCollection,
  ModelInfo,
  ProviderInfo,
  ApiStreamChunk,
  ToolDefinition,
} from './api-handler.ts';
import {
  findCollection,
  OWN_IDS,
  listProviderIds,
  unregisterProvider,
  resolveProviderId,
} from './catalog.ts';
import { type Factory, createHandlerProvider } from './handler-provider.ts';
import { randomUUID } from 'node:crypto';
import type { Model, ModelChunk, ModelEnd, ModelRequest } from '../../../agent/models/model.ts';
import { fromProviderMessages } from '../../../plugins/messages/provider-messages.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import type { ProviderMessage } from '../../../plugins/contract/message.ts';

// This module is the namespace `Llms` of `@cline/core`, and all of `@cline/llms` that Hookline has.
export type {
  ContentBlock,
  ProviderMessage as Message,
  TextContent,
  ThinkingContent,
  ToolResultContent,
  ToolUseContent,
} from '../../../plugins/contract/message.ts';
export type {
  ApiHandler,
  ApiStream,
  ApiStreamChunk,
  HandlerFactory,
  HandlerModelInfo,
  LazyHandlerFactory,
  ProviderConfig,
  ToolDefinition,
} from './api-handler.ts';
export type {
  ModelCapability,
  ModelCollection,
  ModelInfo,
  ModelPricing,
  ProviderCapability,
  ProviderClient,
  ProviderInfo,
  ProviderProtocol,
} from './api-handler.ts';
export { registerModel, registerProvider, unregisterModel, unregisterProvider } from './catalog.ts';

/** Cline's ids of the providers that Hookline has itself. */
export const BUILT_IN_PROVIDER_IDS: readonly string[] = OWN_IDS;

export function isBuiltInProviderId(id: string): boolean {
  return OWN_IDS.includes(id);
}

export function getProviderIds(): string[] {
  return listProviderIds();
}

export function hasProvider(providerId: string): boolean {
  return findCollection(providerId) !== undefined;
}

export function getProviderCollectionSync(providerId: string): ModelCollection | undefined {
  return findCollection(providerId);
}

export async function getProviderCollection(
  providerId: string,
): Promise<ModelCollection | undefined> {
  return findCollection(providerId);
}

export async function getProvider(providerId: string): Promise<ProviderInfo | undefined> {
  return findCollection(providerId)?.provider;
}

export async function getAllProviders(): Promise<ProviderInfo[]> {
  return listProviderIds().flatMap((id) => findCollection(id)?.provider ?? []);
}

export async function getModelsForProvider(providerId: string): Promise<Record<string, ModelInfo>> {
  return findCollection(providerId)?.models ?? {};
}

/** Removes all registered providers and models; handlers stay, as in `@cline/llms`. */
export function resetRegistry(): void {
  for (const id of listProviderIds()) unregisterProvider(id);
}

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['openai', 'openai-compatible'],
  ['togetherai', 'together'],
  ['sap-ai-core', 'sapaicore'],
]);

export function normalizeProviderId(providerId: string): string {
  const id = providerId.trim();
  return OTHER_NAMES.get(id) ?? id;
}

interface RegisteredFactory {
  readonly make: Factory;
  readonly isAsync: boolean;
}

// Registrations count for every session of the process, as in `@cline/llms`.
const factories = new Map<string, RegisteredFactory>();

/** Registers code that answers for a provider in every session; Hookline's own providers cannot be replaced. */
export function registerHandler(providerId: string, factory: HandlerFactory): void {
  register(providerId, { make: factory, isAsync: false });
}

export function registerAsyncHandler(providerId: string, factory: LazyHandlerFactory): void {
  register(providerId, { make: factory, isAsync: true });
}

function register(providerId: string, factory: RegisteredFactory): void {
  const { make, isAsync } = factory;
  const method = isAsync ? 'registerAsyncHandler' : 'registerHandler';
  if (typeof providerId !== 'string' || providerId.trim() === '' || typeof make !== 'function') {
    throw new HooklineError('PLUGIN_INVALID', {
      message: `Llms.${method} expects an id and a function, found ${getTypeName(providerId)} and ${getTypeName(make)}`,
    });
  }
  const id = normalizeProviderId(providerId);
  // A refused id is reported when a session is opened, so that a plugin can register others.
  registeredProviders.add(createHandlerProvider(id, make));
  if (!isBuiltInProvider(id)) factories.set(id, factory);
}

export function hasRegisteredHandler(providerId: string): boolean {
  return factories.has(normalizeProviderId(providerId));
}

export function isRegisteredHandlerAsync(providerId: string): boolean {
  return factories.get(normalizeProviderId(providerId))?.isAsync ?? false;
}

/** Creates a handler for one of Hookline's own providers or a registered one; sends nothing yet. */
export function createHandler(config: ProviderConfig): ApiHandler {
  const factory = findFactory(config);
  if (factory === undefined) return createOwnHandler(config);
  const handler = factory.isAsync ? null : factory.make(config);
  if (handler !== null && !(handler instanceof Promise)) return handler;
  throw new HooklineError('SDK_UNSUPPORTED', {
    message: `the handler of the provider "${config.providerId}" is made later`,
    hint: 'Use createHandlerAsync for what was registered with registerAsyncHandler.',
  });
}

export async function createHandlerAsync(config: ProviderConfig): Promise<ApiHandler> {
  return findFactory(config)?.make(config) ?? createOwnHandler(config);
}

function findFactory(config: ProviderConfig): RegisteredFactory | undefined {
  return factories.get(normalizeProviderId(config.routingProviderId ?? config.providerId));
}

/** A handler whose answers come from one of Hookline's own models, or from a registered service. */
function createOwnHandler(config: ProviderConfig): ApiHandler {
  let signal = config.abortSignal;
  let controller = new AbortController();
  let opened: Promise<Model> | null = null;
  const { modelId, modelInfo, knownModels } = config;
  return {
    getMessages: (_systemPrompt, messages) => messages,
    getModel: () => ({
      id: modelId,
      info: modelInfo ?? knownModels?.[modelId] ?? { id: modelId },
    }),
    async *createMessage(systemPrompt, messages, tools = []) {
      controller = new AbortController();
      const request = toRequest(config, systemPrompt, messages, tools);
      const signals = signal === undefined ? [controller.signal] : [controller.signal, signal];
      opened ??= openHandlerModel(config);
      const model = await opened;
      const answer = model.stream(request, AbortSignal.any(signals));
      const id = randomUUID();
      for await (const chunk of answer) yield* toChunks(chunk, id);
    },
    setAbortSignal(next) {
      signal = next;
    },
    abort: () => controller.abort(),
  };
}

function openHandlerModel(config: ProviderConfig): Promise<Model> {
  const { modelId, apiKey, baseUrl, fetch, headers } = config;
  const id = config.routingProviderId ?? config.providerId;
  const provider = resolveProviderId(id);
  const { env } = readSurroundings();
  const choice = {
    provider,
    model: modelId === '' ? null : modelId,
    baseUrl: baseUrl ?? null,
    key: apiKey ?? null,
    // The user's key is sent to the default address only; another address needs its own key.
    env: baseUrl === undefined ? env : {},
    transport: dropUndefined({ fetch, headers }),
  };
  const service = registeredProviders.find(id);
  if (isBuiltInProvider(provider) || service?.kind !== 'service') return openModel(choice);
  return service.open({ ...choice, passedKeys: [] });
}

function toRequest(
  config: ProviderConfig,
  systemPrompt: string,
  providerMessages: readonly ProviderMessage[],
  tools: readonly ToolDefinition[],
): ModelRequest {
  const messages = fromProviderMessages(providerMessages);
  if (typeof messages === 'string') {
    throw new HooklineError('USAGE_INVALID', {
      message: `createMessage cannot use its messages: ${messages.replace('it gave', 'there is')}`,
    });
  }
  const { maxOutputTokens, temperature, reasoningEffort: effort, thinking } = config;
  return {
    system: systemPrompt,
    messages,
    tools: tools.map(({ name, description, inputSchema: schema }) => ({
      name,
      description,
      schema,
    })),
    ...dropUndefined({ maxOutputTokens, temperature, effort, thinking }),
  };
}

function toChunks(chunk: ModelChunk, id: string): readonly ApiStreamChunk[] {
  switch (chunk.type) {
    case 'text-delta':
      return [{ type: 'text', text: chunk.text, id }];
    case 'thinking-delta':
      return [{ type: 'reasoning', reasoning: chunk.text, id }];
    case 'input-delta':
      return [];
    case 'media':
      return [{ type: 'media', media: chunk.media, id }];
    case 'model-tool':
      return [{ type: 'model_tool', activity: chunk.activity, id }];
    case 'end':
      return toEndChunks(chunk, id);
    case 'failure': {
      const { failure } = chunk;
      // A handler that passes this chunk on fails as the model itself would.
      return [{ type: 'done', success: false, error: failure.message, id, failure }];
    }
  }
}

/** Calls are sent whole, at the end of the answer. */
function toEndChunks({ content, usage, finishReason }: ModelEnd, id: string): ApiStreamChunk[] {
  const parts = content.flatMap((block): readonly ApiStreamChunk[] => {
    if (block.type === 'thinking' && block.signature !== undefined) {
      return [{ type: 'reasoning', reasoning: '', signature: block.signature, id }];
    }
    if (block.type !== 'tool_use') return [];
    const call = { id: block.id, name: block.name, arguments: serializeArguments(block.input) };
    return [{ type: 'tool_calls', tool_call: { call_id: block.id, function: call }, id }];
  });
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const all = inputTokens + cacheReadTokens + cacheWriteTokens;
  const incomplete = INCOMPLETE[finishReason];
  return [
    ...parts,
    { type: 'usage', inputTokens: all, outputTokens, cacheReadTokens, cacheWriteTokens, id },
    {
      type: 'done',
      success: true,
      id,
      ...dropUndefined({ incompleteReason: incomplete }),
    },
  ];
}

function serializeArguments(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

const INCOMPLETE: Readonly<Partial<Record<ModelEnd['finishReason'], string>>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};
