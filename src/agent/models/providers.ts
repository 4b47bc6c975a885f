import { dropUndefined } from '../../base/defined.ts';
import { HooklineError } from '../../base/errors.ts';
import { importOptional } from '../../base/optional-packages.ts';
import { findClosestName } from '../../base/did-you-mean.ts';
import { MODEL_SERVICES, type ModelService } from '../../base/model-services.ts';
import type { AiSdkModel, SdkModel } from './ai-sdk.ts';
import type { Model } from './model.ts';
import { createScriptedModel, type ScriptTurn } from './scripted.ts';
import type { WireFormat } from './reasoning.ts';

/** A model service, or a router to several. */
export interface Provider {
  readonly name: string;
  readonly aliases: readonly string[];
  /** The display name. */
  readonly label: string;
  readonly wire: WireFormat;
  /** Null when there is no generally available model. */
  readonly defaultModel: string | null;
  readonly baseUrl: string | null;
  /** Appended to a base URL without a path. */
  readonly defaultPath: string;
  /** Environment variables for the key, in order. */
  readonly keyVariables: readonly string[];
  readonly needsKey: boolean;
  readonly takesSchema: boolean;
  /** One sentence for the documentation. */
  readonly description: string;
}

/** Overrides how requests are sent. */
export interface ModelTransport {
  readonly fetch?: typeof globalThis.fetch;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ModelChoice {
  readonly provider: string;
  readonly model: string | null;
  readonly baseUrl: string | null;
  readonly key: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly transport?: ModelTransport;
  readonly script?: readonly ScriptTurn[];
  /** Provider names registered by plugins, for error messages. */
  readonly others?: readonly string[];
}

export const PROVIDERS: readonly Provider[] = [
  {
    name: 'anthropic',
    aliases: ['claude'],
    label: 'Anthropic',
    wire: 'anthropic',
    defaultModel: 'claude-sonnet-5-5',
    baseUrl: 'https://api.anthropic.com/v1',
    defaultPath: '/v1',
    keyVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    needsKey: true,
    takesSchema: true,
    description: 'Claude models through the Messages API.',
  },
  {
    name: 'openai',
    aliases: ['openai-native'],
    label: 'OpenAI',
    wire: 'openai',
    defaultModel: 'gpt-6.1-sol',
    baseUrl: 'https://api.openai.com/v1',
    defaultPath: '/v1',
    keyVariables: ['OPENAI_API_KEY'],
    needsKey: true,
    takesSchema: true,
    description: 'OpenAI’s models through the Responses API; nothing is stored there.',
  },
  {
    name: 'gemini',
    aliases: ['google'],
    label: 'Gemini',
    wire: 'google',
    defaultModel: 'gemini-4-argon',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    defaultPath: '/v1beta',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    needsKey: true,
    takesSchema: true,
    description: 'Google’s models through the Gemini API.',
  },
  {
    name: 'openai-compatible',
    aliases: [],
    label: 'The OpenAI-compatible server',
    wire: 'chat',
    defaultModel: null,
    baseUrl: null,
    defaultPath: '/v1',
    keyVariables: ['OPENAI_COMPATIBLE_API_KEY'],
    needsKey: false,
    takesSchema: false,
    description: 'Any server that speaks OpenAI’s chat completions; needs --base-url and --model.',
  },
  {
    name: 'openrouter',
    aliases: [],
    label: 'OpenRouter',
    wire: 'chat',
    defaultModel: 'anthropic/claude-sonnet-5.5',
    baseUrl: 'https://openrouter.ai/api/v1',
    defaultPath: '/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    needsKey: true,
    takesSchema: true,
    description: 'Models of many makers through OpenRouter.',
  },
  {
    name: 'ollama',
    aliases: [],
    label: 'Ollama',
    wire: 'chat',
    defaultModel: null,
    baseUrl: 'http://localhost:11434/v1',
    defaultPath: '/v1',
    keyVariables: ['OLLAMA_API_KEY'],
    needsKey: false,
    takesSchema: true,
    description: 'Models on this machine through Ollama; needs --model.',
  },
];

/** The variables that hold provider keys; they are withheld from workspace hooks. */
export const KEY_VARIABLES: readonly string[] = [
  ...new Set([...PROVIDERS, ...MODEL_SERVICES].flatMap(({ keyVariables }) => keyVariables)),
];

const SCRIPTED = 'scripted';

export const PROVIDER_NAMES: readonly string[] = [...PROVIDERS.map(({ name }) => name), SCRIPTED];

/** Whether the name is a provider or alias that plugins cannot replace. */
export function isBuiltInProvider(name: string): boolean {
  return name === SCRIPTED || findOwnProvider(name) !== undefined;
}

/** Whether it is a service of Cline's catalogue; a plugin may serve it instead. */
export function isCataloguedService(name: string): boolean {
  return MODEL_SERVICES.some(({ id }) => id === name);
}

const DEFAULT_PATHS: Readonly<Record<WireFormat, string>> = {
  anthropic: '/v1',
  openai: '/v1',
  google: '/v1beta',
  chat: '/v1',
};

/** What a description of a service leaves open. */
export function getDefaultPath(wire: WireFormat): string {
  return DEFAULT_PATHS[wire];
}

/** The owner of a key: one of Hookline's own providers, or a service of the catalogue. */
export function findKeyOwner(variable: string): Pick<Provider, 'label' | 'baseUrl'> | undefined {
  return [...PROVIDERS, ...MODEL_SERVICES].find(({ keyVariables }) =>
    keyVariables.includes(variable),
  );
}

/** Opens a model without sending anything; the SDK is loaded only for models that need it. */
export async function openModel(choice: ModelChoice): Promise<Model> {
  if (choice.provider === SCRIPTED) return openScripted(choice);
  return openService(findProvider(choice) ?? throwUnknownProvider(choice), choice);
}

export async function openService(provider: Provider, choice: ModelChoice): Promise<Model> {
  const id = choice.model ?? provider.defaultModel;
  if (id === null) throw createMissingError(provider, 'a model', '--model');
  const baseUrl = resolveBaseUrl(provider, choice.baseUrl);
  const key = findKey(provider, choice);
  const [sdk, { createAiSdkModel }, model] = await Promise.all([
    importOptional('a language model', () => import('ai')),
    import('./ai-sdk.ts'),
    loadSdkModel(provider, id, baseUrl, key, choice.transport),
  ]);
  const settings: AiSdkModel = {
    provider: provider.name,
    id,
    wire: provider.wire,
    model,
    takesSchema: provider.takesSchema,
    target: {
      provider: provider.label,
      model: id,
      baseUrl,
      keyHint: formatKeyHint(provider),
      secrets: key === null ? [] : [key.value],
    },
  };
  return createAiSdkModel(settings, sdk);
}

/** Throws when the provider is unknown, or lacks its model, address or key; nothing is sent or loaded. */
export function checkModelChoice(choice: ModelChoice): void {
  if (choice.provider === SCRIPTED) return;
  const provider = findProvider(choice) ?? throwUnknownProvider(choice);
  if ((choice.model ?? provider.defaultModel) === null) {
    throw createMissingError(provider, 'a model', '--model');
  }
  resolveBaseUrl(provider, choice.baseUrl);
  findKey(provider, choice);
}

function openScripted({ script, model }: ModelChoice): Model {
  if (script !== undefined) return createScriptedModel(script, model === null ? {} : { id: model });
  throw new HooklineError('MODEL_UNKNOWN', {
    message: 'provider "scripted" requires a script',
    hint: 'Set its file with --script.',
  });
}

function findProvider({ provider: name, env }: ModelChoice): Provider | undefined {
  const service = MODEL_SERVICES.find(({ id }) => id === name);
  const own = findOwnProvider(name);
  return own ?? (service === undefined ? undefined : toProvider(service, env));
}

function findOwnProvider(name: string): Provider | undefined {
  return PROVIDERS.find((each) => each.name === name || each.aliases.includes(name));
}

function toProvider(service: ModelService, env: ModelChoice['env']): Provider {
  const { id, label, wire, baseUrl, keyVariables } = service;
  return {
    name: id,
    aliases: [],
    label,
    wire,
    defaultModel: null,
    baseUrl: fillAddress(service, env),
    defaultPath: DEFAULT_PATHS[wire],
    keyVariables,
    needsKey: !/^http:\/\/(?:localhost|127\.0\.0\.1)/.test(baseUrl),
    // Other chat servers may reject a schema.
    takesSchema: wire !== 'chat',
    description: `Its address is ${baseUrl}.`,
  };
}

/** Null when a variable of the address is not set. */
function fillAddress({ baseUrl }: ModelService, env: ModelChoice['env']): string | null {
  const filled = baseUrl.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => env[name] ?? '');
  const names = [...baseUrl.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return names.every((name) => (env[name] ?? '') !== '') ? filled : null;
}

/** Services of Cline's catalogue that speak a format of their own, and what that is. */
const FOREIGN_FORMATS: Readonly<Record<string, string>> = {
  asksage: 'an API of its own',
  bedrock: 'signed requests of AWS',
  'claude-code': 'the program `claude`',
  dify: 'an API of its own',
  elevenlabs: 'transcription',
  'openai-codex-cli': 'the program `codex`',
  opencode: 'the program `opencode`',
  sapaicore: 'deployments of SAP AI Core',
  vertex: 'credentials of Google Cloud',
};

/** `vercel` means `vercel-ai-gateway`, and `kimi` what has it in its label. */
function findByWord(name: string, ids: readonly string[]): string | null {
  const word = name.toLowerCase();
  if (word.length < 3) return null;
  const labelled = MODEL_SERVICES.find(({ label }) => label.toLowerCase().includes(word));
  return ids.find((id) => id.split('-').includes(word)) ?? labelled?.id ?? null;
}

function throwUnknownProvider({ provider: name, others = [] }: ModelChoice): never {
  const format = Object.hasOwn(FOREIGN_FORMATS, name) ? FOREIGN_FORMATS[name] : undefined;
  if (format !== undefined) {
    throw new HooklineError('MODEL_UNKNOWN', {
      message: `provider "${name}" uses ${format}, which Hookline does not speak`,
      hint: `Put a gateway in front of it (openai-compatible with a base URL), or register code for it with Llms.registerHandler("${name}", …).`,
    });
  }
  const names = [...PROVIDER_NAMES, ...others];
  const ids = [...names, ...MODEL_SERVICES.map(({ id }) => id)];
  const closest = findClosestName(name, ids) ?? findByWord(name, ids);
  const providerList = `Known providers: ${names.join(', ')}, and ${MODEL_SERVICES.length} services by name (docs/reference/models.md).`;
  throw new HooklineError('MODEL_UNKNOWN', {
    message: `unknown model provider "${name}"`,
    hint: closest === null ? providerList : `Did you mean "${closest}"? ${providerList}`,
  });
}

function createMissingError(
  { name, description: about }: Provider,
  what: string,
  flag: string,
): HooklineError {
  return new HooklineError('MODEL_UNKNOWN', {
    message: `provider "${name}" requires ${what}`,
    hint: `Set it with ${flag} or in the configuration. ${about}`,
  });
}

function resolveBaseUrl(provider: Provider, written: string | null): string {
  if (written === null) {
    if (provider.baseUrl === null) throw createMissingError(provider, 'a base URL', '--base-url');
    return provider.baseUrl;
  }
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new HooklineError('CONFIG_INVALID', {
      message: `the base URL of a model must begin with http:// or https://, found "${written}"`,
      hint: 'Set it with --base-url, for example http://localhost:8080/v1.',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new HooklineError('CONFIG_INVALID', {
      message: `the base URL of a model must not contain a user name or password, found one for ${url.host}`,
      hint: 'Pass the key with --key instead.',
    });
  }
  return url.pathname === '/'
    ? `${url.origin}${provider.defaultPath}`
    : written.replace(/\/+$/, '');
}

interface Key {
  readonly value: string;
  /** Null when the key was passed explicitly. */
  readonly variable: string | null;
}

function findKey(provider: Provider, { key, env }: ModelChoice): Key | null {
  if (key !== null && key !== '') return { value: key, variable: null };
  const variable = provider.keyVariables.find((name) => (env[name] ?? '') !== '');
  const value = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && value !== undefined) return { value, variable };
  if (!provider.needsKey) return null;
  throw new HooklineError('MODEL_KEY_MISSING', {
    message: `no API key found for ${provider.label}${formatVariable(provider)}`,
    hint: `S${formatKeyHint(provider).slice(1)}; -P NAME chooses another provider.`,
  });
}

function formatVariable({ keyVariables: [variable] }: Provider): string {
  return variable === undefined ? '' : ` (${variable})`;
}

function formatKeyHint({ keyVariables: [variable] }: Provider): string {
  const ways = '"model.key" in the configuration, or pass --key';
  return variable === undefined ? `set ${ways}` : `set ${variable}, or ${ways}`;
}

/** The SDK requires a mutable headers object. */
function toSdkTransport({ fetch, headers }: ModelTransport) {
  return dropUndefined({ fetch, headers: headers === undefined ? undefined : { ...headers } });
}

/** Every address and key is passed explicitly, so that the SDK reads none from the environment. */
async function loadSdkModel(
  provider: Provider,
  id: string,
  baseURL: string,
  key: Key | null,
  modelTransport: ModelTransport | undefined,
): Promise<SdkModel> {
  const transport = toSdkTransport(modelTransport ?? {});
  const apiKey = key?.value ?? '';
  switch (provider.wire) {
    case 'anthropic': {
      const { createAnthropic } = await importOptional(
        'Anthropic',
        () => import('@ai-sdk/anthropic'),
      );
      const isToken = key?.variable === 'ANTHROPIC_AUTH_TOKEN';
      const secret = isToken ? { authToken: apiKey } : { apiKey };
      return createAnthropic({ baseURL, ...secret, ...transport })(id);
    }
    case 'openai': {
      const { createOpenAI } = await importOptional('OpenAI', () => import('@ai-sdk/openai'));
      return createOpenAI({ baseURL, apiKey, ...transport }).responses(id);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await importOptional(
        'Google',
        () => import('@ai-sdk/google'),
      );
      return createGoogleGenerativeAI({ baseURL, apiKey, ...transport })(id);
    }
    case 'chat': {
      const { createOpenAICompatible } = await importOptional(
        provider.label,
        () => import('@ai-sdk/openai-compatible'),
      );
      const supportsStructuredOutputs = provider.takesSchema;
      const settings = {
        name: provider.name,
        baseURL,
        includeUsage: true,
        supportsStructuredOutputs,
        ...transport,
      };
      return createOpenAICompatible(key === null ? settings : { ...settings, apiKey })(id);
    }
  }
}
