import type { Model, ModelRequest } from '../../../agent/models/model.ts';
import { toAgentMessages } from '../../../plugins/messages/agent-messages.ts';
import type { ApiHandler, ApiStreamChunk } from '../../llms/api-handler.ts';
import { streamFromHandler } from '../../llms/handler-model.ts';
import { STREAM_LIMITS } from '../../llms/handler-stream.ts';
import type { AgentModel, AgentModelEvent } from './agent-config.ts';

const ASKED = {
  provider: 'The agent’s own model',
  model: 'own',
  baseUrl: '',
  keyHint: '',
  secrets: [],
};

/** A program's own model as one that sessions can ask. */
export function modelOf(own: AgentModel, options: Record<string, unknown>): Model {
  return {
    provider: 'own',
    id: 'own',
    contextTokens: 200_000,
    prices: null,
    stream(request, signal) {
      const make = async (_request: ModelRequest, both: AbortSignal): Promise<ApiHandler> =>
        handlerOf(() => askedStream(own, { request, options, signal: both }));
      return streamFromHandler({ asked: ASKED, limits: STREAM_LIMITS, make }, request, signal);
    },
  };
}

function handlerOf(stream: () => AsyncGenerator<ApiStreamChunk>): ApiHandler {
  return {
    createMessage: stream,
    getMessages: (_system, messages) => messages,
    getModel: () => ({ id: ASKED.model, info: { id: ASKED.model } }),
  };
}

interface Asking {
  readonly request: ModelRequest;
  readonly options: Record<string, unknown>;
  readonly signal: AbortSignal;
}

async function* askedStream(
  own: AgentModel,
  { request, options, signal }: Asking,
): AsyncGenerator<ApiStreamChunk> {
  const { system, messages, tools, temperature, maxOutputTokens } = request;
  const events = await own.stream({
    systemPrompt: system,
    messages: toAgentMessages(messages),
    tools: tools.map(({ name, description, schema }) => ({
      name,
      description,
      inputSchema: { ...schema },
    })),
    signal,
    options: {
      ...options,
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxTokens: maxOutputTokens }),
    },
  });
  for await (const event of events) yield* chunksOf(event);
}

const ID = 'own';

function chunksOf(event: AgentModelEvent): readonly ApiStreamChunk[] {
  switch (event.type) {
    case 'text-delta':
      return [{ type: 'text', text: event.text, id: ID }];
    case 'reasoning-delta':
      return [{ type: 'reasoning', reasoning: event.text, id: ID }];
    case 'tool-call-delta':
      return [callOf(event)];
    case 'usage': {
      const { inputTokens = 0, outputTokens = 0, ...cached } = event.usage;
      return [{ type: 'usage', inputTokens, outputTokens, ...cached, id: ID }];
    }
    case 'finish':
      return [endOf(event)];
    case 'media':
    case 'tool-result':
      return [];
  }
}

type Event<Type extends AgentModelEvent['type']> = Extract<AgentModelEvent, { type: Type }>;

function callOf(event: Event<'tool-call-delta'>): ApiStreamChunk {
  const { index, toolCallId, toolName, inputText, input } = event;
  return {
    type: 'tool_calls',
    id: ID,
    tool_call: {
      ...(toolCallId === undefined ? {} : { call_id: toolCallId }),
      ...(index === undefined ? {} : { index }),
      function: {
        ...(toolName === undefined ? {} : { name: toolName }),
        arguments: inputText ?? (input === undefined ? '' : JSON.stringify(input)),
      },
    },
  };
}

function endOf({ reason, error }: Event<'finish'>): ApiStreamChunk {
  const isFailed = reason === 'error' || reason === 'aborted';
  return {
    type: 'done',
    id: ID,
    success: !isFailed,
    ...(isFailed ? { error: error ?? `it ended with "${reason}"` } : {}),
    ...(reason === 'max-tokens' ? { incompleteReason: 'max_tokens' } : {}),
  };
}
