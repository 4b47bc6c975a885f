import { isRecord, getTypeName } from '../../base/json.ts';
import type { Wire } from './reasoning.ts';
import { parseModels } from './model-details.ts';
import type { ServiceDescription } from './service-provider.ts';

export type ParsedService =
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
  const wire = findWire(fields);
  const why = checkId(id) ?? checkAddress(fields['baseUrl']) ?? checkWire(wire, fields);
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

/** Chat completions, unless the protocol or the client names another format. */
function findWire({ protocol, client }: Fields): Wire | null {
  const formats = [protocol, client].filter((each) => each !== undefined);
  if (formats.length === 0) return 'chat';
  return formats.flatMap((each) => WIRES.get(each) ?? [])[0] ?? null;
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
      typeof value === 'string' ? [] : [`its header ${name} is no text`],
    ),
  };
}

function getText(fields: Fields, key: string): string | null {
  const value = fields[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
