import type { streamText } from 'ai';
import type { ModelRequest } from './model.ts';
import type { Wire } from './thoughts.ts';

type ProviderOptions = NonNullable<Parameters<typeof streamText>[0]['providerOptions']>;

interface Target {
  readonly wire: Wire;
  readonly modelId: string;
}

/** How hard to think, and what to keep, in each service's own words. */
export function providerOptionsFor(request: ModelRequest, target: Target): ProviderOptions {
  switch (target.wire) {
    case 'anthropic':
      return { anthropic: anthropicOptions(request, target.modelId) };
    case 'openai':
      return { openai: openaiOptions(request) };
    case 'google':
      return { google: googleOptions(request, target.modelId) };
    case 'chat':
      return request.effort === undefined
        ? {}
        : { openaiCompatible: { reasoningEffort: request.effort } };
  }
}

type Options = ProviderOptions[string];

/** Without a word, each model thinks as it does by default; the SDK drops what a model refuses. */
function anthropicOptions({ effort, thinking }: ModelRequest, modelId: string): Options {
  return {
    ...(effort === undefined ? {} : { effort }),
    ...(thinking === false ? { thinking: { type: 'disabled' } } : {}),
    ...(thinking === true ? { thinking: visibleThinking(modelId) } : {}),
  };
}

function visibleThinking(modelId: string): { type: 'adaptive'; display: string } | Budgeted {
  const isAdaptive = /claude-(opus|sonnet|haiku|fable)-([5-9]|4-[6-9])/.test(modelId);
  return isAdaptive
    ? { type: 'adaptive', display: 'summarized' }
    : { type: 'enabled', budgetTokens: 4096 };
}

interface Budgeted {
  [key: string]: string | number;
  type: 'enabled';
  budgetTokens: number;
}

/** Nothing is stored at OpenAI; thoughts come back to it encrypted instead. */
function openaiOptions({ effort, thinking }: ModelRequest): Options {
  const reasoningEffort = effort ?? (thinking === false ? 'low' : undefined);
  return {
    store: false,
    strictJsonSchema: false,
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(thinking === true ? { reasoningSummary: 'auto' } : {}),
  };
}

const BUDGETS: Readonly<Record<string, number>> = { low: 1024, medium: 8192, high: 24_576 };

/** Gemini 2.5 is given a budget, later ones a level. */
function googleOptions({ effort, thinking }: ModelRequest, modelId: string): Options {
  const level = effort ?? (thinking === false ? 'low' : undefined);
  const budget = level === undefined ? undefined : BUDGETS[level];
  const isBudgeted = modelId.includes('gemini-2');
  const thinkingConfig = {
    ...(thinking === true ? { includeThoughts: true } : {}),
    ...(isBudgeted && budget !== undefined ? { thinkingBudget: budget } : {}),
    ...(!isBudgeted && level !== undefined ? { thinkingLevel: level } : {}),
  };
  return Object.keys(thinkingConfig).length === 0 ? {} : { thinkingConfig };
}
