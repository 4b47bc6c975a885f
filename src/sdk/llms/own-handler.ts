import { randomUUID } from 'node:crypto';
import { registeredProviders } from '../../agent/models/custom-provider.ts';
import type { Model, ModelChunk, ModelEnd, ModelRequest } from '../../agent/models/model.ts';
import { isBuiltInProvider, openModel } from '../../agent/models/providers.ts';
import { HooklineError } from '../../base/errors.ts';
import { fromProviderMessages } from '../../dialects/cline-plugin/builder-messages.ts';
import { readSurroundings } from '../../host/config.ts';
import type { ProviderMessage } from '../../plugins/contract/message.ts';
import { resolveProviderId } from '../provider-ids.ts';
import type { ApiHandler, ApiStreamChunk, ProviderConfig, ToolDefinition } from './api-handler.ts';

/** A handler whose answers come from one of Hookline's own models, or from a registered service. */
export function ownHandler(config: ProviderConfig): ApiHandler {
  let signal = config.abortSignal;
  let asking = new AbortController();
  let opened: Promise<Model> | null = null;
  const { modelId, modelInfo, knownModels } = config;
  return {
    getMessages: (_systemPrompt, messages) => messages,
    getModel: () => ({
      id: modelId,
      info: modelInfo ?? knownModels?.[modelId] ?? { id: modelId },
    }),
    async *createMessage(systemPrompt, messages, tools = []) {
      asking = new AbortController();
      const request = requestOf(config, { systemPrompt, messages, tools });
      const given = signal === undefined ? [] : [signal];
      opened ??= openFor(config);
      const model = await opened;
      const answer = model.stream(request, AbortSignal.any([asking.signal, ...given]));
      const id = randomUUID();
      for await (const chunk of answer) yield* chunksOf(chunk, id);
    },
    setAbortSignal(next) {
      signal = next;
    },
    abort: () => asking.abort(),
  };
}

function openFor(config: ProviderConfig): Promise<Model> {
  const { modelId, apiKey, baseUrl, fetch, headers } = config;
  const id = config.routingProviderId ?? config.providerId;
  const provider = resolveProviderId(id);
  const { env } = readSurroundings();
  const choice = {
    provider,
    model: modelId === '' ? null : modelId,
    baseUrl: baseUrl ?? null,
    key: apiKey ?? null,
    // The person's key goes to the usual address only; whoever names another names the key as well.
    env: baseUrl === undefined ? env : {},
    transport: {
      ...(fetch === undefined ? {} : { fetch }),
      ...(headers === undefined ? {} : { headers }),
    },
  };
  const service = registeredProviders.find(id);
  if (isBuiltInProvider(provider) || service?.kind !== 'service') return openModel(choice);
  return service.open({ ...choice, passedKeys: [] });
}

interface Said {
  readonly systemPrompt: string;
  readonly messages: readonly ProviderMessage[];
  readonly tools: readonly ToolDefinition[];
}

function requestOf(config: ProviderConfig, { systemPrompt, messages, tools }: Said): ModelRequest {
  const said = fromProviderMessages(messages);
  if (typeof said === 'string') {
    throw new HooklineError('USAGE_INVALID', {
      message: `createMessage cannot use its messages: ${said.replace('it gave', 'there is')}`,
    });
  }
  const { maxOutputTokens, temperature, reasoningEffort: effort, thinking } = config;
  return {
    system: systemPrompt,
    messages: said,
    tools: tools.map(({ name, description, inputSchema: schema }) => ({
      name,
      description,
      schema,
    })),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(effort === undefined ? {} : { effort }),
    ...(thinking === undefined ? {} : { thinking }),
  };
}

function chunksOf(chunk: ModelChunk, id: string): readonly ApiStreamChunk[] {
  switch (chunk.type) {
    case 'text-delta':
      return [{ type: 'text', text: chunk.text, id }];
    case 'thinking-delta':
      return [{ type: 'reasoning', reasoning: chunk.text, id }];
    case 'input-delta':
      return [];
    case 'end':
      return endChunks(chunk, id);
    case 'failure': {
      const { failure } = chunk;
      // A handler that only hands this on fails as the model itself would.
      const more = { failure };
      return [{ type: 'done', success: false, error: failure.message, id, ...more }];
    }
  }
}

/** Calls are handed out whole, when all of them are known. */
function endChunks({ content, usage, finishReason }: ModelEnd, id: string): ApiStreamChunk[] {
  const parts = content.flatMap((block): readonly ApiStreamChunk[] => {
    if (block.type === 'thinking' && block.signature !== undefined) {
      return [{ type: 'reasoning', reasoning: '', signature: block.signature, id }];
    }
    if (block.type !== 'tool_use') return [];
    const call = { id: block.id, name: block.name, arguments: argumentsOf(block.input) };
    return [{ type: 'tool_calls', tool_call: { call_id: block.id, function: call }, id }];
  });
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const all = inputTokens + cacheReadTokens + cacheWriteTokens;
  const incomplete = INCOMPLETE[finishReason];
  return [
    ...parts,
    { type: 'usage', inputTokens: all, outputTokens, cacheReadTokens, cacheWriteTokens, id },
    {
      type: 'done',
      success: true,
      id,
      ...(incomplete === undefined ? {} : { incompleteReason: incomplete }),
    },
  ];
}

function argumentsOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

const INCOMPLETE: Readonly<Partial<Record<ModelEnd['finishReason'], string>>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};
