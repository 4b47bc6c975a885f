import { registeredProviders } from '../../../agent/models/custom-provider.ts';
import { isBuiltInProvider } from '../../../agent/models/providers.ts';
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
} from './api-handler.ts';
import { findCollection, OWN_IDS, listProviderIds, unregisterProvider } from './catalog.ts';
import { type Factory, createHandlerProvider } from './handler-provider.ts';
import { createOwnHandler } from './own-handler.ts';

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

/** Forgets every provider and model that was registered; handlers stay, as upstream has it. */
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

const factories = new Map<string, RegisteredFactory>();

/** Has code make the answers of a provider, in every session. Hookline's own providers stay theirs. */
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
  // Refused ones are told of when a session is opened: a plugin that registers more goes on.
  registeredProviders.add(createHandlerProvider(id, make));
  if (!isBuiltInProvider(id)) factories.set(id, factory);
}

export function hasRegisteredHandler(providerId: string): boolean {
  return factories.has(normalizeProviderId(providerId));
}

export function isRegisteredHandlerAsync(providerId: string): boolean {
  return factories.get(normalizeProviderId(providerId))?.isAsync ?? false;
}

/** A handler for one of Hookline's own providers or a registered one. Nothing is sent yet. */
export function createHandler(config: ProviderConfig): ApiHandler {
  const factory = findFactory(config);
  if (factory === undefined) return createOwnHandler(config);
  const made = factory.isAsync ? null : factory.make(config);
  if (made !== null && !(made instanceof Promise)) return made;
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
