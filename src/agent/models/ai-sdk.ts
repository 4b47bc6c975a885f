import type { LanguageModel, ModelMessage, SystemModelMessage, ToolSet, streamText } from 'ai';
import { dropUndefined } from '../../base/defined.ts';
import {
  createAbortedFailure,
  createTruncatedFailure,
  convertModelError,
  type RequestTarget,
  type RequestState,
} from './failures.ts';
import type { Model, ModelChunk, ModelRequest, ToolSpec } from './model.ts';
import { findModelFacts } from './prices.ts';
import { AnswerBuilder, type SdkPart } from './sdk-answer.ts';
import { toSdkMessages } from './sdk-prompt.ts';
import type { WireFormat } from './reasoning.ts';

type Sdk = typeof import('ai');
/** A model object, because the SDK sends a string to its vendor's gateway. */
export type SdkModel = Parameters<Sdk['wrapLanguageModel']>[0]['model'] & LanguageModel;

export interface AiSdkModel {
  readonly provider: string;
  readonly id: string;
  readonly wire: WireFormat;
  readonly model: SdkModel;
  readonly target: RequestTarget;
  /** Whether the service accepts a JSON Schema for its answer. */
  readonly takesSchema: boolean;
}

/** Creates a model on top of the AI SDK, which runs one step per request. */
export function createAiSdkModel(settings: AiSdkModel, sdk: Sdk): Model {
  return {
    provider: settings.provider,
    id: settings.id,
    ...findModelFacts(settings.id),
    stream: (request, signal) => streamAnswer(settings, sdk, request, signal),
  };
}

async function* streamAnswer(
  settings: AiSdkModel,
  sdk: Sdk,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { target } = settings;
  const answer = new AnswerBuilder();
  const reader = new AbortController();
  let hasBegun = false;
  const getState = (): RequestState => ({ hasBegun, isAborted: signal.aborted });
  try {
    const stream = requestStream(settings, sdk, request, AbortSignal.any([signal, reader.signal]));
    for await (const part of stream) {
      if (part.type === 'abort') break;
      if (part.type === 'error') {
        yield { type: 'failure', failure: convertModelError(part.error, target, getState()) };
        return;
      }
      const chunks = answer.add(part);
      hasBegun ||= chunks.length > 0;
      yield* chunks;
    }
    yield signal.aborted
      ? { type: 'failure', failure: createAbortedFailure(target) }
      : (answer.build() ?? {
          type: 'failure',
          failure: createTruncatedFailure(target, getState()),
        });
  } catch (error) {
    yield { type: 'failure', failure: convertModelError(error, target, getState()) };
  } finally {
    reader.abort();
  }
}

function requestStream(
  settings: AiSdkModel,
  sdk: Sdk,
  request: ModelRequest,
  abortSignal: AbortSignal,
): AsyncIterable<SdkPart> {
  const { wire } = settings;
  const { maxOutputTokens, temperature } = request;
  return sdk.streamText({
    model: wrapModel(settings, sdk, request),
    ...dropUndefined({
      system: request.system === '' ? undefined : createSystemMessage(request.system, wire),
      tools: request.tools.length === 0 ? undefined : toToolSet(request.tools, sdk),
      maxOutputTokens,
      temperature,
    }),
    messages: markCachedEnd(toSdkMessages(request.messages, wire), wire),
    providerOptions: buildProviderOptions(request, wire, settings.id),
    maxRetries: 0,
    abortSignal,
    // Errors also arrive through the stream; the SDK's default handler would print them.
    onError: () => undefined,
  }).fullStream;
}

/** Removes the warnings that the SDK would print, and adds the answer schema where it is supported. */
function wrapModel(settings: AiSdkModel, sdk: Sdk, request: ModelRequest): SdkModel {
  const { answerSchema: schema } = request;
  return sdk.wrapLanguageModel({
    model: settings.model,
    middleware: {
      specificationVersion: 'v3',
      transformParams: async ({ params }) =>
        schema === undefined || !settings.takesSchema
          ? params
          : { ...params, responseFormat: { type: 'json', schema } },
      wrapStream: async ({ doStream }) => {
        const { stream, ...rest } = await doStream();
        return { ...rest, stream: stream.pipeThrough(removeWarnings()) };
      },
    },
  });
}

type RawStream = Awaited<ReturnType<SdkModel['doStream']>>['stream'];
type RawPart = RawStream extends ReadableStream<infer Part> ? Part : never;

function removeWarnings(): TransformStream<RawPart, RawPart> {
  return new TransformStream({
    transform(part, controller) {
      controller.enqueue(part.type === 'stream-start' ? { ...part, warnings: [] } : part);
    },
  });
}

const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

function createSystemMessage(content: string, wire: WireFormat): SystemModelMessage {
  const message: SystemModelMessage = { role: 'system', content };
  return wire === 'anthropic' ? { ...message, providerOptions: CACHED } : message;
}

/** Anthropic caches up to the marked message, so the last message is marked. */
function markCachedEnd(messages: readonly ModelMessage[], wire: WireFormat): ModelMessage[] {
  if (wire !== 'anthropic') return [...messages];
  return messages.map((message, index) =>
    index === messages.length - 1 ? { ...message, providerOptions: CACHED } : message,
  );
}

/** Without `execute`, so that the SDK returns the calls instead of running them. */
function toToolSet(specs: readonly ToolSpec[], sdk: Sdk): ToolSet {
  return Object.fromEntries(
    specs.map(({ name, description, schema }) => [
      name,
      sdk.tool({ description, inputSchema: sdk.jsonSchema(schema) }),
    ]),
  );
}

type ProviderOptions = NonNullable<Parameters<typeof streamText>[0]['providerOptions']>;

/** Reasoning effort and storage options in the format of each service. */
function buildProviderOptions(
  request: ModelRequest,
  wire: WireFormat,
  modelId: string,
): ProviderOptions {
  switch (wire) {
    case 'anthropic':
      return { anthropic: buildAnthropicOptions(request, modelId) };
    case 'openai':
      return { openai: buildOpenaiOptions(request) };
    case 'google':
      return { google: buildGoogleOptions(request, modelId) };
    case 'chat':
      return request.effort === undefined
        ? {}
        : { openaiCompatible: { reasoningEffort: request.effort } };
  }
}

type Options = ProviderOptions[string];

/** Without options, a model uses its default reasoning; the SDK drops unsupported options. */
function buildAnthropicOptions({ effort, thinking }: ModelRequest, modelId: string): Options {
  return dropUndefined({ effort, thinking: buildThinking(thinking, modelId) });
}

function buildThinking(thinking: boolean | undefined, modelId: string) {
  if (thinking === undefined) return undefined;
  if (!thinking) return { type: 'disabled' };
  const isAdaptive = /claude-(opus|sonnet|haiku|fable)-([5-9]|4-[6-9])/.test(modelId);
  return isAdaptive
    ? { type: 'adaptive', display: 'summarized' }
    : { type: 'enabled', budgetTokens: 4096 };
}

/** Nothing is stored at OpenAI; reasoning is sent back encrypted instead. */
function buildOpenaiOptions({ effort, thinking }: ModelRequest): Options {
  const reasoningEffort = effort ?? (thinking === false ? 'low' : undefined);
  const reasoningSummary = thinking === true ? 'auto' : undefined;
  return {
    store: false,
    strictJsonSchema: false,
    ...dropUndefined({ reasoningEffort, reasoningSummary }),
  };
}

const BUDGETS: Readonly<Record<string, number>> = { low: 1024, medium: 8192, high: 24_576 };

/** Gemini 2.5 takes a token budget, later models a level. */
function buildGoogleOptions({ effort, thinking }: ModelRequest, modelId: string): Options {
  const known = effort === 'max' || effort === 'xhigh' ? 'high' : effort;
  const level = known ?? (thinking === false ? 'low' : undefined);
  const budget = level === undefined ? undefined : BUDGETS[level];
  const isBudgeted = modelId.includes('gemini-2');
  const thinkingConfig = dropUndefined({
    includeThoughts: thinking === true ? true : undefined,
    thinkingBudget: isBudgeted ? budget : undefined,
    thinkingLevel: isBudgeted ? undefined : level,
  });
  return Object.keys(thinkingConfig).length === 0 ? {} : { thinkingConfig };
}
