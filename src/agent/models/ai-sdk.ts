import type { LanguageModel, ModelMessage, SystemModelMessage, ToolSet } from 'ai';
import {
  abortedFailure,
  cutFailure,
  failureOf,
  type Asked,
  type FailureMoment,
} from './failures.ts';
import type { Model, ModelChunk, ModelRequest, ToolSpec } from './model.ts';
import { factsOf } from './prices.ts';
import { createAnswerBuilder, type SdkPart } from './sdk-answer.ts';
import { providerOptionsFor } from './sdk-options.ts';
import { toSdkMessages } from './sdk-prompt.ts';
import type { Wire } from './thoughts.ts';

type Sdk = typeof import('ai');
/** A model object: a string would send the request to a gateway of the SDK's maker. */
export type SdkModel = Parameters<Sdk['wrapLanguageModel']>[0]['model'] & LanguageModel;

export interface AiSdkModel {
  readonly provider: string;
  readonly id: string;
  readonly wire: Wire;
  readonly model: SdkModel;
  readonly asked: Asked;
  /** Whether the service can be told the JSON Schema of its answer. */
  readonly takesSchema: boolean;
}

/** A model behind the AI SDK, which is asked for one step at a time. */
export function createAiSdkModel(settings: AiSdkModel, sdk: Sdk): Model {
  return {
    provider: settings.provider,
    id: settings.id,
    ...factsOf(settings.id),
    stream: (request, signal) => streamAnswer({ settings, sdk, request }, signal),
  };
}

interface Question {
  readonly settings: AiSdkModel;
  readonly sdk: Sdk;
  readonly request: ModelRequest;
}

async function* streamAnswer(
  question: Question,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { asked } = question.settings;
  const answer = createAnswerBuilder();
  const reader = new AbortController();
  let hasBegun = false;
  const moment = (): FailureMoment => ({ hasBegun, isAborted: signal.aborted });
  try {
    for await (const part of ask(question, AbortSignal.any([signal, reader.signal]))) {
      if (part.type === 'abort') break;
      if (part.type === 'error') {
        yield { type: 'failure', failure: failureOf(part.error, asked, moment()) };
        return;
      }
      const chunks = answer.add(part);
      hasBegun ||= chunks.length > 0;
      yield* chunks;
    }
    yield signal.aborted
      ? { type: 'failure', failure: abortedFailure(asked) }
      : (answer.finished() ?? { type: 'failure', failure: cutFailure(asked, moment()) });
  } catch (error) {
    yield { type: 'failure', failure: failureOf(error, asked, moment()) };
  } finally {
    reader.abort();
  }
}

function ask(
  { settings, sdk, request }: Question,
  abortSignal: AbortSignal,
): AsyncIterable<SdkPart> {
  const { wire } = settings;
  const { maxOutputTokens, temperature } = request;
  const hasTools = request.tools.length > 0;
  return sdk.streamText({
    model: quiet({ settings, sdk, request }),
    ...(request.system === '' ? {} : { system: systemMessage(request.system, wire) }),
    messages: withCachedEnd(toSdkMessages(request.messages, wire), wire),
    ...(hasTools ? { tools: toolSet(request.tools, sdk) } : {}),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    providerOptions: providerOptionsFor(request, { wire, modelId: settings.id }),
    maxRetries: 0,
    abortSignal,
    // The errors come through the stream as well; by default they are printed, too.
    onError: () => undefined,
  }).fullStream;
}

/** Without the warnings, which the SDK would print; with the schema of the answer, where it is taken. */
function quiet({ settings, sdk, request }: Question): SdkModel {
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
        return { ...rest, stream: stream.pipeThrough(withoutWarnings()) };
      },
    },
  });
}

type RawStream = Awaited<ReturnType<SdkModel['doStream']>>['stream'];
type RawPart = RawStream extends ReadableStream<infer Part> ? Part : never;

function withoutWarnings(): TransformStream<RawPart, RawPart> {
  return new TransformStream({
    transform(part, controller) {
      controller.enqueue(part.type === 'stream-start' ? { ...part, warnings: [] } : part);
    },
  });
}

const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

function systemMessage(content: string, wire: Wire): SystemModelMessage {
  const message: SystemModelMessage = { role: 'system', content };
  return wire === 'anthropic' ? { ...message, providerOptions: CACHED } : message;
}

/** Anthropic keeps what is marked; the mark on the last message moves on with the conversation. */
function withCachedEnd(messages: readonly ModelMessage[], wire: Wire): ModelMessage[] {
  if (wire !== 'anthropic') return [...messages];
  return messages.map((message, index) =>
    index === messages.length - 1 ? { ...message, providerOptions: CACHED } : message,
  );
}

/** Without `execute`, so that the SDK hands the calls out instead of running them. */
function toolSet(specs: readonly ToolSpec[], sdk: Sdk): ToolSet {
  return Object.fromEntries(
    specs.map(({ name, description, schema }) => [
      name,
      sdk.tool({ description, inputSchema: sdk.jsonSchema(schema) }),
    ]),
  );
}
