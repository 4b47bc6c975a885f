import { parseService, createServiceProvider } from '../../../agent/models/service-provider.ts';
import { registeredProviders } from '../../../agent/models/custom-provider.ts';
import { findModelFacts, listPricedModels } from '../../../agent/models/prices.ts';
import { isBuiltInProvider, type Provider, PROVIDERS } from '../../../agent/models/providers.ts';
import { MODEL_SERVICES, type ModelService } from '../../../base/model-services.ts';
import { HooklineError } from '../../../base/errors.ts';
import { isRecord, getTypeName } from '../../../base/json.ts';
import type {
  ModelCollection,
  ModelInfo,
  ProviderClient,
  ProviderInfo,
  ProviderProtocol,
} from './api-handler.ts';

// Registrations count for every session of the process, as in `@cline/llms`.
const collections = new Map<string, ModelCollection>();
const furtherModels = new Map<string, Map<string, ModelInfo>>();

/** Hookline's own providers and the services that it knows, under the ids that Cline has for them. */
export const OWN_IDS: readonly string[] = [
  ...PROVIDERS.map(({ name }) => toClineId(name)),
  ...MODEL_SERVICES.map(({ id }) => id),
];

function toClineId(name: string): string {
  return name === 'openai' ? 'openai-native' : name;
}

/** Registers a provider and its models for every session. */
export function registerProvider(collection: ModelCollection): void {
  const { id } = checkCollection(collection);
  if (!isBuiltInProvider(id)) collections.set(id, collection);
  registeredProviders.add({
    id,
    kind: 'service',
    from: 'Llms.registerProvider',
    open: (choice) => openRegistered(id).open(choice),
  });
}

function checkCollection(collection: unknown): { readonly id: string } {
  const provider = isRecord(collection) ? collection['provider'] : undefined;
  const id = isRecord(provider) ? provider['id'] : undefined;
  if (typeof id === 'string' && id.trim() !== '') return { id: id.trim() };
  throw new HooklineError('PLUGIN_INVALID', {
    message: `Llms.registerProvider expects { provider: { id, … }, models }, found ${isRecord(collection) ? 'no id of a provider' : getTypeName(collection)}`,
  });
}

/** Models may be registered later than their provider, so it is read when it is used. */
function openRegistered(id: string) {
  const { provider, models } = findCollection(id) ?? { provider: {}, models: {} };
  const read = parseService(id, { ...provider, models });
  if (read.ok) return createServiceProvider(read.service, 'Llms.registerProvider');
  throw new HooklineError('MODEL_UNKNOWN', {
    message: `provider "${id}" of Llms.registerProvider cannot be used: ${read.why}`,
  });
}

export function unregisterProvider(providerId: string): boolean {
  furtherModels.delete(providerId);
  registeredProviders.remove('service', providerId);
  return collections.delete(providerId);
}

export function registerModel(providerId: string, modelId: string, info: ModelInfo): void {
  const models = furtherModels.get(providerId) ?? new Map<string, ModelInfo>();
  models.set(modelId, { ...info, id: modelId });
  furtherModels.set(providerId, models);
}

export function unregisterModel(providerId: string, modelId: string): boolean {
  return furtherModels.get(providerId)?.delete(modelId) ?? false;
}

export function listProviderIds(): string[] {
  return [...new Set([...OWN_IDS, ...collections.keys()])];
}

/** Finds one of Hookline's own providers, or a registered one, with all its models. */
export function findCollection(id: string): ModelCollection | undefined {
  const found = collections.get(id) ?? createOwnCollection(id);
  const further = furtherModels.get(id);
  if (found === undefined || further === undefined) return found;
  return { ...found, models: { ...found.models, ...Object.fromEntries(further) } };
}

function createOwnCollection(id: string): ModelCollection | undefined {
  const own = PROVIDERS.find(({ name }) => toClineId(name) === id);
  if (own !== undefined) return { provider: toProviderInfo(own), models: listOwnModels(own) };
  const service = MODEL_SERVICES.find((each) => each.id === id);
  return service === undefined ? undefined : { provider: toServiceInfo(service), models: {} };
}

function toServiceInfo({ id, label, wire, baseUrl, keyVariables }: ModelService): ProviderInfo {
  return {
    id,
    name: label,
    ...PROTOCOLS[wire],
    baseUrl,
    defaultModelId: '',
    env: [...keyVariables],
    source: 'system',
  };
}

const PROTOCOLS: Readonly<
  Record<Provider['wire'], { protocol: ProviderProtocol; client: ProviderClient }>
> = {
  anthropic: { protocol: 'anthropic', client: 'anthropic' },
  openai: { protocol: 'openai-responses', client: 'openai' },
  google: { protocol: 'gemini', client: 'gemini' },
  chat: { protocol: 'openai-chat', client: 'openai-compatible' },
};

function toProviderInfo(own: Provider): ProviderInfo {
  const { name, label, description: about, wire, baseUrl, defaultModel, keyVariables } = own;
  return {
    id: toClineId(name),
    name: label,
    description: about,
    ...PROTOCOLS[wire],
    ...(baseUrl === null ? {} : { baseUrl }),
    defaultModelId: defaultModel ?? '',
    env: [...keyVariables],
    source: 'system',
  };
}

const PREFIXES: Readonly<Record<string, string>> = {
  anthropic: 'claude-',
  openai: 'gpt-',
  gemini: 'gemini-',
};

/** Those whose price is known; the service may have others. */
function listOwnModels({ name }: Provider): Record<string, ModelInfo> {
  const prefix = PREFIXES[name];
  if (prefix === undefined) return {};
  return Object.fromEntries(listPricedModels(prefix).map((id) => [id, createOwnModel(id)]));
}

function createOwnModel(id: string): ModelInfo {
  const { contextTokens: contextWindow, prices } = findModelFacts(id);
  return { id, contextWindow, ...(prices === null ? {} : { pricing: { ...prices } }) };
}

/** Cline's ids of providers that have another id here. */
const IDS: Readonly<Record<string, string>> = { openai: 'openai-compatible' };

/** Resolves one of Cline's ids to a provider; others stay as they are, because a plugin may register them. */
export function resolveProviderId(id: string): string {
  if (Object.hasOwn(IDS, id)) return IDS[id] ?? id;
  const own = PROVIDERS.find(({ name, aliases }) => name === id || aliases.includes(id));
  return own?.name ?? id;
}
