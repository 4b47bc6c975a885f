import type { Model, Prices, Usage } from './model.ts';

/** Looks up a model id, ignoring a vendor prefix and a date suffix; unknown models have no price. */
export function findModelFacts(
  modelId: string,
): Pick<Model, 'contextTokens' | 'prices' | 'effort'> {
  const id = normalizeModelId(modelId);
  const price = PRICES.find(([name]) => normalizeModelId(name) === id);
  const window = WINDOWS.find(([prefix]) => id.startsWith(normalizeModelId(prefix)));
  return {
    contextTokens: window?.[1] ?? DEFAULT_CONTEXT_TOKENS,
    prices: price === undefined ? null : toPrices(price),
    ...(WITH_EFFORT.test(id) ? { effort: 'high' } : {}),
  };
}

/** Models of Anthropic that take an effort; `high` is what they use without one. */
const WITH_EFFORT = /^claude-(?:opus-4-5|(?:opus|sonnet)-4-[6-9]|(?:opus|sonnet|fable)-[5-9])/;

/** Model ids with a known price and this prefix. */
export function listPricedModels(prefix: string): readonly string[] {
  return PRICES.map(([id]) => id).filter((id) => id.startsWith(prefix));
}

/** US dollars; null when the price is unknown. A cost reported by the service takes precedence. */
export function computeCost(usage: Usage, prices: Prices | null): number | null {
  if (usage.costUsd !== undefined) return usage.costUsd;
  if (prices === null) return null;
  const millionths =
    usage.inputTokens * prices.input +
    usage.outputTokens * prices.output +
    usage.cacheReadTokens * prices.cacheRead +
    usage.cacheWriteTokens * prices.cacheWrite;
  return millionths / 1_000_000;
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/** Removes vendor and date, and treats `5.5` as `5-5`, because routers spell model ids differently. */
function normalizeModelId(modelId: string): string {
  const name = modelId.slice(modelId.lastIndexOf('/') + 1).toLowerCase();
  return name.replace(/-20\d\d-?\d\d-?\d\d$/, '').replaceAll('.', '-');
}

type PriceRow = readonly [
  id: string,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
];

function toPrices([, input, output, cacheRead, cacheWrite]: PriceRow): Prices {
  return { input, output, cacheRead, cacheWrite };
}

// List prices as of November 2026, for the shortest prompt tier where a provider has tiers (Claude Haiku
// 5.5 up to 100,000 tokens, GPT-6.1 up to 272,000, Gemini 2.5 Pro up to 200,000). Unlisted models have no
// price: no cost is better than a wrong one.
const PRICES: readonly PriceRow[] = [
  ['claude-fable-5-1', 10, 50, 1, 12.5],
  ['claude-opus-5-5', 4, 20, 0.4, 5],
  ['claude-opus-5', 5, 25, 0.5, 6.25],
  ['claude-opus-4-8', 5, 25, 0.5, 6.25],
  ['claude-opus-4-7', 5, 25, 0.5, 6.25],
  ['claude-opus-4-6', 5, 25, 0.5, 6.25],
  ['claude-opus-4-5', 5, 25, 0.5, 6.25],
  ['claude-opus-4-1', 15, 75, 1.5, 18.75],
  ['claude-sonnet-5-5', 2, 10, 0.2, 2.5],
  ['claude-sonnet-5', 2, 10, 0.2, 2.5],
  ['claude-sonnet-4-6', 3, 15, 0.3, 3.75],
  ['claude-sonnet-4-5', 3, 15, 0.3, 3.75],
  ['claude-haiku-5-5', 0.1, 0.5, 0.01, 0.125],
  ['claude-haiku-4-5', 1, 5, 0.1, 1.25],
  ['gpt-6.1-sol', 2, 10, 0.1, 2.5],
  ['gpt-6.1-terra', 1, 5, 0.05, 1.25],
  ['gpt-5.4', 2.5, 15, 0.25, 2.5],
  ['gpt-5.4-mini', 0.75, 4.5, 0.075, 0.75],
  ['gpt-5.1', 1.25, 10, 0.125, 1.25],
  ['gpt-5', 1.25, 10, 0.125, 1.25],
  ['gpt-4.1', 2, 8, 0.5, 2],
  ['gpt-4o', 2.5, 10, 1.25, 2.5],
  ['gpt-4o-mini', 0.15, 0.6, 0.075, 0.15],
  // Half of this until the end of November 2026.
  ['gemini-4-argon', 4, 20, 0.2, 4],
  ['gemini-2.5-pro', 1.25, 10, 0.125, 1.25],
  ['gemini-2.5-flash', 0.3, 2.5, 0.03, 0.3],
];

const DEFAULT_CONTEXT_TOKENS = 128_000;

// The first matching prefix counts, so longer ones come first.
const WINDOWS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['claude-fable-5', 1_000_000],
  ['claude-opus-5', 1_000_000],
  ['claude-sonnet-5', 1_000_000],
  ['claude-haiku-5', 1_000_000],
  ['claude-', 200_000],
  ['gpt-6', 922_000],
  ['gpt-5', 272_000],
  ['gpt-4.1', 1_000_000],
  ['gpt-4', 128_000],
  ['o3', 200_000],
  ['o4', 200_000],
  ['gemini-', 1_048_576],
];
