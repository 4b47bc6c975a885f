import { isRecord, getTypeName } from '../../../base/json.ts';
import type { Model, ModelRequest, Prices } from '../model.ts';

/** What a provider says of one of its models; null where it says nothing that can be used. */
export interface ModelDetails {
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly prices: Prices | null;
}

export interface ReadModels {
  readonly models: ReadonlyMap<string, ModelDetails>;
  /** What of it cannot be used, in words. */
  readonly problems: readonly string[];
}

/** Models by id, as a list with ids in it, or as a list of ids. */
export function readModels(given: unknown): ReadModels {
  if (given === undefined) return { models: new Map(), problems: [] };
  const entries = entriesOf(given);
  if (entries === null) {
    const problems = [`its models are ${getTypeName(given)}, expected them by id`];
    return { models: new Map(), problems };
  }
  const problems = entries.flatMap(([id, info]) => problemsOf(id, info));
  const models = entries.flatMap(([id, info]) =>
    typeof id === 'string' && id !== '' ? [[id, detailsOf(info)] as const] : [],
  );
  return { models: new Map(models), problems };
}

type Entry = readonly [id: unknown, info: unknown];

function entriesOf(given: unknown): readonly Entry[] | null {
  if (isRecord(given)) return Object.entries(given);
  if (!Array.isArray(given)) return null;
  return given.map((each: unknown): Entry => [isRecord(each) ? each['id'] : each, each]);
}

function problemsOf(id: unknown, info: unknown): readonly string[] {
  if (typeof id !== 'string' || id === '') return ['one of its models has no id'];
  if (!isRecord(info)) return [];
  const wrong = ['contextWindow', 'maxInputTokens', 'maxTokens'].filter(
    (field) => info[field] !== undefined && amountOf(info[field]) === null,
  );
  const isPriceless = info['pricing'] !== undefined && pricesOf(info['pricing']) === null;
  return [...wrong, ...(isPriceless ? ['pricing'] : [])].map(
    (field) => `${field} of its model ${id} cannot be used`,
  );
}

export function detailsOf(info: unknown): ModelDetails {
  const { contextWindow, maxInputTokens, maxTokens, pricing } = isRecord(info) ? info : {};
  return {
    contextTokens: amountOf(maxInputTokens) ?? amountOf(contextWindow),
    maxOutputTokens: amountOf(maxTokens),
    prices: pricesOf(pricing),
  };
}

function amountOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 1 ? value : null;
}

/** Where a price for cached tokens is not named, they cost as much as others. */
function pricesOf(pricing: unknown): Prices | null {
  const { input, output, cacheRead, cacheWrite } = isRecord(pricing) ? pricing : {};
  const inputPrice = priceOf(input);
  const outputPrice = priceOf(output);
  if (inputPrice === null || outputPrice === null) return null;
  return {
    input: inputPrice,
    output: outputPrice,
    cacheRead: priceOf(cacheRead) ?? inputPrice,
    cacheWrite: priceOf(cacheWrite) ?? inputPrice,
  };
}

function priceOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

/** The model as its provider describes it. What the provider does not say stays as it is. */
export function withDetails(model: Model, details: ModelDetails, mustBeTold: boolean): Model {
  const { contextTokens, maxOutputTokens: most, prices } = details;
  const limited = (request: ModelRequest): ModelRequest => {
    const wanted = request.maxOutputTokens ?? (mustBeTold ? most : null);
    if (most === null || wanted === null) return request;
    return { ...request, maxOutputTokens: Math.min(wanted, most) };
  };
  return {
    ...model,
    contextTokens: contextTokens ?? model.contextTokens,
    prices: prices ?? model.prices,
    stream: (request, signal) => model.stream(limited(request), signal),
  };
}
