import { expect, test } from 'vitest';
import { addUsage, computeCost, findModelFacts } from '../../../src/agent/models/prices.ts';

const USAGE = {
  inputTokens: 1_000_000,
  outputTokens: 100_000,
  cacheReadTokens: 500_000,
  cacheWriteTokens: 200_000,
};

test('a cost counts each kind of token at its own price', () => {
  const prices = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
  expect(computeCost(USAGE, prices)).toBeCloseTo(2 + 1 + 0.1 + 0.5, 10);
  expect(computeCost(USAGE, null)).toBeNull();
});

test('usages add up', () => {
  expect(addUsage(USAGE, { ...USAGE, outputTokens: 1 })).toEqual({
    inputTokens: 2_000_000,
    outputTokens: 100_001,
    cacheReadTokens: 1_000_000,
    cacheWriteTokens: 400_000,
  });
});

test.each([
  ['claude-opus-5-5', 1_000_000, 4],
  ['claude-sonnet-4-5-20250929', 200_000, 3],
  ['anthropic/claude-sonnet-5.5', 1_000_000, 2],
  ['openai/gpt-6.1-sol', 922_000, 2],
  ['gpt-5-2025-08-07', 272_000, 1.25],
  ['gpt-4o-mini', 128_000, 0.15],
  ['gemini-2.5-flash', 1_048_576, 0.3],
])('%s is known', (id, contextTokens, input) => {
  const facts = findModelFacts(id);
  expect(facts.contextTokens).toBe(contextTokens);
  expect(facts.prices?.input).toBe(input);
});

test.each([
  ['claude-sonnet-4-5', undefined],
  ['claude-opus-4-5-20251101', 'high'],
  ['anthropic/claude-sonnet-4.6', 'high'],
  ['claude-haiku-4-5', undefined],
  ['gpt-5', undefined],
])('%s uses the effort %s by default', (id, effort) => {
  expect(findModelFacts(id).effort).toBe(effort);
});

test.each([
  ['claude-opus-6', 200_000],
  ['gpt-5-nano', 272_000],
  ['gpt-5.4-codex', 272_000],
  ['gemini-3.8-flash', 1_048_576],
  ['qwen3-coder:30b', 128_000],
])('%s has no price, rather than that of a similar model', (id, contextTokens) => {
  expect(findModelFacts(id)).toMatchObject({ contextTokens, prices: null });
});
