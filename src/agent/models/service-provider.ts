import { findKeyOwner, getDefaultPath, openService, type Provider } from './providers.ts';
import type { WireFormat } from './reasoning.ts';
import type { CustomChoice, CustomProvider } from './custom-provider.ts';
import { type ModelDetails, withDetails, parseModels } from './model-details.ts';
import { HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';

/** A service described by a plugin: its address and wire format. */
interface ServiceDescription {
  readonly id: string;
  /** The display name. */
  readonly label: string;
  readonly wire: WireFormat;
  readonly baseUrl: string | null;
  readonly defaultModel: string | null;
  readonly keyVariables: readonly string[];
  /** Sent with every request; headers of the session take precedence. */
  readonly headers: Readonly<Record<string, string>>;
  readonly models: ReadonlyMap<string, ModelDetails>;
}

/** Creates a provider for a described service. */
export function createServiceProvider(service: ServiceDescription, from: string): CustomProvider {
  const { id, headers, models, wire } = service;
  return {
    id,
    kind: 'service',
    from,
    async open(choice) {
      const model = await openService(toProvider(service, from), {
        ...choice,
        baseUrl: choice.baseUrl ?? service.baseUrl,
        key: resolveKey({ ...service, from }, choice),
        // The key is already resolved, so the environment is empty.
        env: {},
        transport: withHeaders(choice, headers),
      });
      const details = models.get(model.id);
      return details === undefined ? model : withDetails(model, details, wire === 'anthropic');
    },
  };
}

function withHeaders({ transport = {} }: CustomChoice, headers: Readonly<Record<string, string>>) {
  return { ...transport, headers: { ...headers, ...transport.headers } };
}

function toProvider(service: ServiceDescription, from: string): Provider {
  const { id, label, wire, defaultModel, baseUrl, keyVariables } = service;
  return {
    name: id,
    aliases: [],
    label,
    wire,
    defaultModel,
    baseUrl,
    defaultPath: getDefaultPath(wire),
    keyVariables,
    needsKey: keyVariables.length > 0,
    // Other chat servers may reject a schema.
    takesSchema: wire !== 'chat',
    description: `It comes from ${from}.`,
  };
}

/** A provider that needs a key, and where the key would be sent. */
export interface KeyRecipient {
  readonly id: string;
  readonly label: string;
  readonly from: string;
  readonly baseUrl: string | null;
  /** Environment variables for the key, in order. */
  readonly keyVariables: readonly string[];
}

/**
 * The explicit key, or the first one in the environment; null when there is none. A built-in provider's key
 * goes only to that provider, unless the user sets a base URL or allows it.
 */
export function resolveKey(recipient: KeyRecipient, choice: CustomChoice): string | null {
  if (choice.key !== null && choice.key !== '') return choice.key;
  const found = recipient.keyVariables.filter((name) => (choice.env[name] ?? '') !== '');
  const free = found.find((name) => canReceiveKey(name, recipient, choice));
  if (free !== undefined) return choice.env[free] ?? null;
  const [withheld] = found;
  if (withheld === undefined) return null;
  throw createWithheldError(withheld, recipient);
}

function canReceiveKey(name: string, { baseUrl }: KeyRecipient, choice: CustomChoice): boolean {
  const owner = findKeyOwner(name);
  if (owner === undefined || choice.baseUrl !== null) return true;
  return choice.passedKeys.includes(name) || isSameOrigin(owner.baseUrl, baseUrl);
}

function isSameOrigin(one: string | null, other: string | null): boolean {
  const origin = getOrigin(one);
  return origin !== null && origin === getOrigin(other);
}

function getOrigin(url: string | null): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).origin : null;
}

function createWithheldError(name: string, { id, from, baseUrl }: KeyRecipient): HooklineError {
  const owner = findKeyOwner(name)?.label ?? 'another provider';
  const where = getOrigin(baseUrl) ?? 'code of its own';
  return new HooklineError('MODEL_KEY_MISSING', {
    message: `provider "${id}" of ${from} requests ${name}, the key for ${owner}, and would send it to ${where}; it is withheld`,
    hint: `Pass a key with --key, or list ${name} in "env.pass" of your own configuration.`,
  });
}

type ParsedService =
  | {
      readonly ok: true;
      readonly service: ServiceDescription;
      /** Descriptions of ignored entries. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

type Fields = Readonly<Record<string, unknown>>;

/** Parses a service as plugins describe it: `baseUrl`, `protocol`, `env` … and its models. */
export function parseService(id: string, fields: Fields): ParsedService {
  const wire = findWireFormat(fields);
  const why = checkId(id) ?? checkAddress(fields['baseUrl']) ?? checkWireFormat(wire, fields);
  if (why !== null || wire === null) return { ok: false, why: why ?? 'it speaks no known format' };
  const { models, problems } = parseModels(fields['models'] ?? fields['modelIds']);
  const parsedHeaders = parseHeaders(fields['headers']);
  return {
    ok: true,
    service: {
      id,
      label: getText(fields, 'name') ?? id,
      wire,
      baseUrl: getText(fields, 'baseUrl'),
      defaultModel: getText(fields, 'defaultModelId') ?? getOnlyModel(models),
      keyVariables: listKeyVariables(fields),
      headers: parsedHeaders.usable,
      models,
    },
    warnings: [...problems, ...parsedHeaders.problems],
  };
}

/** Ids must not contain a slash, because `provider/model` names both. */
function checkId(id: string): string | null {
  if (/^[^\s/]+$/.test(id)) return null;
  return `the id of a provider has no blank and no slash, found ${JSON.stringify(id)}`;
}

function checkAddress(baseUrl: unknown): string | null {
  if (baseUrl === undefined) return null;
  const isAddress = typeof baseUrl === 'string' && /^https?:\/\//.test(baseUrl);
  if (isAddress && URL.canParse(baseUrl)) return null;
  const found = typeof baseUrl === 'string' ? JSON.stringify(baseUrl) : getTypeName(baseUrl);
  return `its baseUrl must begin with http:// or https://, found ${found}`;
}

const WIRE_FORMATS: ReadonlyMap<unknown, WireFormat> = new Map<unknown, WireFormat>([
  ['openai-chat', 'chat'],
  ['openai-compatible', 'chat'],
  ['openai-r1', 'chat'],
  ['openai', 'chat'],
  ['anthropic', 'anthropic'],
  ['openai-responses', 'openai'],
  ['gemini', 'google'],
  ['google', 'google'],
]);

/** Chat completions, unless the protocol or the client names another format. */
function findWireFormat({ protocol, client }: Fields): WireFormat | null {
  const formats = [protocol, client].filter((each) => each !== undefined);
  if (formats.length === 0) return 'chat';
  return formats.flatMap((each) => WIRE_FORMATS.get(each) ?? [])[0] ?? null;
}

function checkWireFormat(wire: WireFormat | null, { protocol, client }: Fields): string | null {
  if (wire !== null) return null;
  const found = JSON.stringify(protocol ?? client) ?? getTypeName(protocol ?? client);
  return `it speaks ${found}; Hookline speaks openai-chat, openai-responses, anthropic and gemini, and others through Llms.registerHandler`;
}

function getOnlyModel(models: ReadonlyMap<string, unknown>): string | null {
  return models.size === 1 ? ([...models.keys()][0] ?? null) : null;
}

function listKeyVariables(fields: Fields): readonly string[] {
  const variables = [fields['apiKeyEnv'], fields['env']].flat();
  const texts = variables.filter((each) => typeof each === 'string').map((each) => each.trim());
  return [...new Set(texts.filter((each) => each !== ''))];
}

function parseHeaders(headers: unknown) {
  if (headers === undefined) return { usable: {}, problems: [] };
  if (!isRecord(headers)) {
    return {
      usable: {},
      problems: [`its headers are ${getTypeName(headers)}, expected an object`],
    };
  }
  const entries = Object.entries(headers);
  return {
    usable: Object.fromEntries(
      entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    ),
    problems: entries.flatMap(([name, value]) =>
      typeof value === 'string' ? [] : [`its header ${name} is not a string`],
    ),
  };
}

function getText(fields: Fields, key: string): string | null {
  const value = fields[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
