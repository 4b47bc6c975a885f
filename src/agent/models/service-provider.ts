import { openService, type Provider, PROVIDERS } from './providers.ts';
import type { Wire } from './reasoning.ts';
import type { CustomChoice, CustomProvider } from './custom-provider.ts';
import { type ModelDetails, withDetails, parseModels } from './model-details.ts';
import { HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';

/** A service that somebody described: where it is and what it speaks. */
interface ServiceDescription {
  readonly id: string;
  /** As a person calls it. */
  readonly label: string;
  readonly wire: Wire;
  readonly baseUrl: string | null;
  readonly defaultModel: string | null;
  readonly keyVariables: readonly string[];
  /** Sent with every request, unless the session says otherwise. */
  readonly headers: Readonly<Record<string, string>>;
  readonly models: ReadonlyMap<string, ModelDetails>;
}

/** A provider that is reached like Hookline's own, at the address that was described. */
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
        // Which key it may have is settled; nothing else is looked for.
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

const DEFAULT_PATHS: Readonly<Record<Wire, string>> = {
  anthropic: '/v1',
  openai: '/v1',
  google: '/v1beta',
  chat: '/v1',
};

function toProvider(service: ServiceDescription, from: string): Provider {
  const { id, label, wire, defaultModel, baseUrl, keyVariables } = service;
  return {
    name: id,
    aliases: [],
    label,
    wire,
    defaultModel,
    baseUrl,
    defaultPath: DEFAULT_PATHS[wire],
    keyVariables,
    needsKey: keyVariables.length > 0,
    // Of the others nobody knows what their servers take.
    takesSchema: wire !== 'chat',
    description: `It comes from ${from}.`,
  };
}

/** Who wants a key, and where it would go. */
export interface KeyRecipient {
  readonly id: string;
  readonly label: string;
  readonly from: string;
  readonly baseUrl: string | null;
  /** Where its key is looked for, in this order. */
  readonly keyVariables: readonly string[];
}

/**
 * The key that was given, or the first that the environment has; null when there is none. A key of one
 * of Hookline's own providers goes only to that provider, unless the person says where to or that it may.
 */
export function resolveKey(asker: KeyRecipient, choice: CustomChoice): string | null {
  if (choice.key !== null && choice.key !== '') return choice.key;
  const found = asker.keyVariables.filter((name) => (choice.env[name] ?? '') !== '');
  const free = found.find((name) => canReceiveKey(name, asker, choice));
  if (free !== undefined) return choice.env[free] ?? null;
  const [withheld] = found;
  if (withheld === undefined) return null;
  throw createWithheldError(withheld, asker);
}

function canReceiveKey(name: string, { baseUrl }: KeyRecipient, choice: CustomChoice): boolean {
  const owner = findKeyOwner(name);
  if (owner === undefined || choice.baseUrl !== null) return true;
  return choice.passedKeys.includes(name) || isSameOrigin(owner.baseUrl, baseUrl);
}

function findKeyOwner(name: string): Provider | undefined {
  return PROVIDERS.find(({ keyVariables }) => keyVariables.includes(name));
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
    message: `The provider "${id}" of ${from} wants ${name}, which is the key for ${owner}, and would send it to ${where}; it does not get it.`,
    hint: `Pass a key with --key, or list ${name} in "env.pass" of your own configuration.`,
  });
}

type ParsedService =
  | {
      readonly ok: true;
      readonly service: ServiceDescription;
      /** What of it was left out, in words. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

type Fields = Readonly<Record<string, unknown>>;

/** A service as plugins describe it: `baseUrl`, `protocol`, `env` … and its models. */
export function parseService(id: string, fields: Fields): ParsedService {
  const wire = findWire(fields);
  const why = checkId(id) ?? checkAddress(fields['baseUrl']) ?? checkWire(wire, fields);
  if (why !== null || wire === null) return { ok: false, why: why ?? 'it speaks no known format' };
  const { models, problems } = parseModels(fields['models'] ?? fields['modelIds']);
  const headers = parseHeaders(fields['headers']);
  return {
    ok: true,
    service: {
      id,
      label: getText(fields, 'name') ?? id,
      wire,
      baseUrl: getText(fields, 'baseUrl'),
      defaultModel: getText(fields, 'defaultModelId') ?? getOnlyModel(models),
      keyVariables: listKeyVariables(fields),
      headers: headers.usable,
      models,
    },
    warnings: [...problems, ...headers.problems],
  };
}

/** `provider/model` names both, so a provider's id has no slash. */
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

const WIRES: ReadonlyMap<unknown, Wire> = new Map<unknown, Wire>([
  ['openai-chat', 'chat'],
  ['openai-compatible', 'chat'],
  ['openai-r1', 'chat'],
  ['openai', 'chat'],
  ['anthropic', 'anthropic'],
  ['openai-responses', 'openai'],
  ['gemini', 'google'],
  ['google', 'google'],
]);

/** Chat completions, unless its protocol, or else its client, is another. */
function findWire({ protocol, client }: Fields): Wire | null {
  const said = [protocol, client].filter((each) => each !== undefined);
  if (said.length === 0) return 'chat';
  return said.flatMap((each) => WIRES.get(each) ?? [])[0] ?? null;
}

function checkWire(wire: Wire | null, { protocol, client }: Fields): string | null {
  if (wire !== null) return null;
  const found = JSON.stringify(protocol ?? client) ?? getTypeName(protocol ?? client);
  return `it speaks ${found}; Hookline speaks openai-chat, openai-responses, anthropic and gemini, and others through Llms.registerHandler`;
}

function getOnlyModel(models: ReadonlyMap<string, unknown>): string | null {
  return models.size === 1 ? ([...models.keys()][0] ?? null) : null;
}

function listKeyVariables(fields: Fields): readonly string[] {
  const named = [fields['apiKeyEnv'], fields['env']].flat();
  const texts = named.filter((each) => typeof each === 'string').map((each) => each.trim());
  return [...new Set(texts.filter((each) => each !== ''))];
}

interface ParsedHeaders {
  readonly usable: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

function parseHeaders(given: unknown): ParsedHeaders {
  if (given === undefined) return { usable: {}, problems: [] };
  if (!isRecord(given)) {
    return { usable: {}, problems: [`its headers are ${getTypeName(given)}, expected an object`] };
  }
  const entries = Object.entries(given);
  return {
    usable: Object.fromEntries(
      entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    ),
    problems: entries.flatMap(([name, value]) =>
      typeof value === 'string' ? [] : [`its header ${name} is no text`],
    ),
  };
}

function getText(fields: Fields, key: string): string | null {
  const value = fields[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
