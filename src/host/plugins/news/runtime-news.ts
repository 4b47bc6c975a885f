import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { finishReasonOf } from '../../../dialects/cline-plugin/contexts.ts';
import { toAgentMessages } from '../../../dialects/cline-plugin/messages.ts';
import type { AgentMessage } from '../../../plugins/contract/message.ts';
import type { AgentRuntimeNews, AgentToolCall } from '../../../plugins/contract/runtime-hooks.ts';
import { type MirroredAgent, resultMessage } from './agent-mirror.ts';
import { type Snapshots, usageOf } from './snapshots.ts';

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
      return answerNews(event.message, agent);
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
  { iteration, finishReason, agentId }: MirroredAgent,
): readonly AgentRuntimeNews[] {
  const [message] = toAgentMessages([answer]);
  if (message === undefined) return [];
  const said: AgentMessage = { ...message, id: `${agentId}-${iteration}` };
  return [
    { type: 'message-added', message: said },
    {
      type: 'assistant-message',
      iteration,
      message: said,
      finishReason: finishReasonOf(finishReason),
    },
  ];
}

function toolNews(
  event: Of<'tool-start' | 'tool-delta' | 'tool-end'>,
  { agent, updateOf }: NewsMeans,
): readonly AgentRuntimeNews[] {
  const { iteration } = agent;
  if (event.type === 'tool-delta') {
    const update = updateOf(event.callId) ?? event.text;
    return [
      { type: 'tool-updated', iteration, toolCall: pendingCall(agent, event.callId), update },
    ];
  }
  const toolCall = callOf(event);
  if (event.type === 'tool-start') return [{ type: 'tool-started', iteration, toolCall }];
  const [answer] = toAgentMessages([resultMessage(event)]);
  if (answer === undefined) return [];
  const content = answer.content.map((part) =>
    part.type === 'tool-result' ? { ...part, toolName: event.tool } : part,
  );
  const message: AgentMessage = { ...answer, id: `result-${event.callId}`, content };
  return [
    { type: 'tool-finished', iteration, toolCall, message },
    { type: 'message-added', message },
  ];
}

function callOf({
  callId: toolCallId,
  tool: toolName,
  input,
}: Of<'tool-start' | 'tool-end'>): AgentToolCall {
  return { type: 'tool-call', toolCallId, toolName, input };
}

function pendingCall({ pending }: MirroredAgent, toolCallId: string): AgentToolCall {
  const { tool: toolName, input } = pending.get(toolCallId) ?? { tool: '', input: undefined };
  return { type: 'tool-call', toolCallId, toolName, input };
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
