import { isRecord, getTypeName } from '../../base/json.ts';
import type { Model, ModelRequest, Prices } from './model.ts';

/** A provider's description of one model; null where it is missing or invalid. */
export interface ModelDetails {
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly prices: Prices | null;
}

/** Accepts models by id, a list of objects with ids, or a list of ids. */
export function parseModels(value: unknown): {
  readonly models: ReadonlyMap<string, ModelDetails>;
  /** Descriptions of invalid entries. */
  readonly problems: readonly string[];
} {
  if (value === undefined) return { models: new Map(), problems: [] };
  const entries = listEntries(value);
  if (entries === null) {
    const problems = [`its models are ${getTypeName(value)}, expected them by id`];
    return { models: new Map(), problems };
  }
  const problems = entries.flatMap(([id, info]) => listProblems(id, info));
  const models = entries.flatMap(([id, info]) =>
    typeof id === 'string' && id !== '' ? [[id, parseDetails(info)] as const] : [],
  );
  return { models: new Map(models), problems };
}

type Entry = readonly [id: unknown, info: unknown];

function listEntries(value: unknown): readonly Entry[] | null {
  if (isRecord(value)) return Object.entries(value);
  if (!Array.isArray(value)) return null;
  return value.map((each: unknown): Entry => [isRecord(each) ? each['id'] : each, each]);
}

function listProblems(id: unknown, info: unknown): readonly string[] {
  if (typeof id !== 'string' || id === '') return ['one of its models has no id'];
  if (!isRecord(info)) return [];
  const wrong = ['contextWindow', 'maxInputTokens', 'maxTokens'].filter(
    (field) => info[field] !== undefined && parseAmount(info[field]) === null,
  );
  const isPriceless = info['pricing'] !== undefined && parsePrices(info['pricing']) === null;
  return [...wrong, ...(isPriceless ? ['pricing'] : [])].map(
    (field) => `${field} of its model ${id} cannot be used`,
  );
}

export function parseDetails(info: unknown): ModelDetails {
  const { contextWindow, maxInputTokens, maxTokens, pricing } = isRecord(info) ? info : {};
  return {
    contextTokens: parseAmount(maxInputTokens) ?? parseAmount(contextWindow),
    maxOutputTokens: parseAmount(maxTokens),
    prices: parsePrices(pricing),
  };
}

function parseAmount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 1 ? value : null;
}

/** Without prices for cached tokens, the input price applies. */
function parsePrices(pricing: unknown): Prices | null {
  const { input, output, cacheRead, cacheWrite } = isRecord(pricing) ? pricing : {};
  const inputPrice = parsePrice(input);
  const outputPrice = parsePrice(output);
  if (inputPrice === null || outputPrice === null) return null;
  return {
    input: inputPrice,
    output: outputPrice,
    cacheRead: parsePrice(cacheRead) ?? inputPrice,
    cacheWrite: parsePrice(cacheWrite) ?? inputPrice,
  };
}

function parsePrice(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

/**
 * The model with its provider's limits and prices where they are known. `needsLimit`: the service requires
 * a limit in every request.
 */
export function withDetails(model: Model, details: ModelDetails, needsLimit: boolean): Model {
  const { contextTokens, maxOutputTokens: limit, prices } = details;
  const limitOutput = (request: ModelRequest): ModelRequest => {
    const requested = request.maxOutputTokens ?? (needsLimit ? limit : null);
    if (limit === null || requested === null) return request;
    return { ...request, maxOutputTokens: Math.min(requested, limit) };
  };
  return {
    ...model,
    contextTokens: contextTokens ?? model.contextTokens,
    prices: prices ?? model.prices,
    stream: (request, signal) => model.stream(limitOutput(request), signal),
  };
}
