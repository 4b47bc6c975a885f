import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import {
  finishReasonOf,
  inSdkWords,
  toolSourceOf,
} from '../../../plugins/messages/sdk-tool-names.ts';
import type { AgentRuntimeNews, AgentToolCall } from '../../../plugins/contract/runtime-hooks.ts';
import type { MirroredAgent } from './agent-mirror.ts';
import { type Snapshots, usageOf } from './snapshots.ts';
import type { ServingModel } from './told-messages.ts';

/** What plugins hear of an event; `agent` is as the event left it. */
export interface NewsMeans {
  readonly agent: MirroredAgent;
  readonly snapshots: Snapshots;
  /** What the tool of this call said last of how far it is, where it is more than text. */
  readonly updateOf: (callId: string) => unknown;
}

/** One event of the agent in the words of Cline's runtime: none, one or several. */
export function runtimeNews(event: RuntimeEvent, means: NewsMeans): readonly AgentRuntimeNews[] {
  const { agent } = means;
  const { iteration } = agent;
  switch (event.type) {
    case 'turn-start':
      return [{ type: 'turn-started', iteration }];
    case 'text-delta': {
      const { text } = event;
      return [{ type: 'assistant-text-delta', iteration, text, accumulatedText: agent.text }];
    }
    case 'thinking-delta': {
      const { text } = event;
      const accumulatedText = agent.thinking;
      return [{ type: 'assistant-reasoning-delta', iteration, text, accumulatedText }];
    }
    case 'turn-end':
      return [{ type: 'usage-updated', usage: usageOf(agent.usage) }];
    case 'message-end':
      return answerNews(event.message, means);
    case 'tool-start':
    case 'tool-delta':
    case 'tool-end':
      return toolNews(event, means);
    case 'run-end':
      return endNews(event, means);
    default:
      return noticeNews(event);
  }
}

type Of<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;

function answerNews(
  answer: Of<'message-end'>['message'],
  { agent: { iteration, finishReason }, snapshots }: NewsMeans,
): readonly AgentRuntimeNews[] {
  const message = snapshots.told.one(answer);
  if (message === null) return [];
  return [
    { type: 'message-added', message },
    { type: 'assistant-message', iteration, message, finishReason: finishReasonOf(finishReason) },
  ];
}

function toolNews(
  event: Of<'tool-start' | 'tool-delta' | 'tool-end'>,
  { agent, updateOf, snapshots }: NewsMeans,
): readonly AgentRuntimeNews[] {
  const { iteration } = agent;
  const { callId } = event;
  const model = snapshots.told.modelOf(agent);
  if (event.type === 'tool-delta') {
    const { tool, input } = agent.pending.get(callId) ?? { tool: '', input: undefined };
    const update = updateOf(callId) ?? event.text;
    const toolCall = callOf({ callId, tool, input }, model);
    return [{ type: 'tool-updated', iteration, toolCall, update }];
  }
  const toolCall = callOf(event, model);
  if (event.type === 'tool-start') return [{ type: 'tool-started', iteration, toolCall }];
  const message = snapshots.told.result(event);
  return [
    { type: 'tool-finished', iteration, toolCall, message },
    { type: 'message-added', message },
  ];
}

type ToldCall = Pick<Of<'tool-start'>, 'callId' | 'tool' | 'input'>;

function callOf({ callId, tool, input }: ToldCall, model: ServingModel | null): AgentToolCall {
  const call = inSdkWords({ name: tool, input });
  return {
    type: 'tool-call',
    toolCallId: callId,
    toolName: call.name,
    input: call.input,
    ...(model === null ? {} : { metadata: { toolSource: toolSourceOf(model) } }),
  };
}

function endNews({ result }: Of<'run-end'>, { snapshots }: NewsMeans): readonly AgentRuntimeNews[] {
  const ended = snapshots.resultOf(result);
  return ended.error === undefined
    ? [{ type: 'run-finished', result: ended }]
    : [{ type: 'run-failed', error: ended.error }];
}

function noticeNews(event: RuntimeEvent): readonly AgentRuntimeNews[] {
  switch (event.type) {
    case 'notice':
      return [
        {
          type: 'status-notice',
          message: event.text,
          metadata: { kind: 'notice', level: event.level },
        },
      ];
    case 'retry-start': {
      const { failure, waitMs } = event;
      const metadata = { kind: 'provider_error_retry', waitMs };
      return [{ type: 'status-notice', message: failure.message, metadata }];
    }
    case 'compaction-start':
      return [
        {
          type: 'status-notice',
          message: 'compacting the conversation',
          metadata: { kind: 'compaction' },
        },
      ];
    default:
      return [];
  }
}
