import { isRecord } from '../../base/json.ts';
import type { HandlerInput } from '../../hooks/handler.ts';
import { getToolCall, type HookEvent } from '../../hooks/facts.ts';
import type { AssistantMessage } from '../../sessions/messages.ts';
import type {
  AgentAfterModelContext,
  AgentAfterToolContext,
  AgentBeforeToolContext,
  AgentRunResult,
  AgentToolDefinition,
} from '../../plugins/contract/runtime-hooks.ts';
import type { AgentRuntimeStateSnapshot } from '../../plugins/contract/snapshot.ts';
import type { AgentTool } from '../../plugins/contract/tool.ts';
import {
  createAgentMessage,
  toPluginPart,
  type MessageNote,
} from '../../plugins/messages/agent-messages.ts';
import {
  toFinishReason,
  toSdkResult,
  createSdkResult,
} from '../../plugins/messages/sdk-tool-names.ts';

/** What hooks of plugins are told that the event itself does not say. */
export interface PluginPorts {
  snapshot(event: HookEvent): AgentRuntimeStateSnapshot;
  /** Whether nobody has looked at the conversation in it, so that the next hook may have it, too. */
  isUnread?(snapshot: AgentRuntimeStateSnapshot): boolean;
  /** Who asks the model, beyond what the event says of it. */
  requester?(event: HookEvent<'ModelRequest'>): Readonly<Record<string, string>>;
  runResult(event: HookEvent<'RunEnd'>): AgentRunResult;
  /** What is known of the answer beyond its words. */
  describeAnswer?(event: HookEvent<'ModelResponse'>, answer: AssistantMessage): MessageNote;
  /** As the model is told of it, or as its plugin made it. */
  findTool(name: string): AgentToolDefinition | AgentTool | null;
}

export type ToolEvent = HookEvent<'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure'>;

/** What all hooks of one dispatch are told of a call. */
export interface SharedCall extends Pick<AgentBeforeToolContext, 'snapshot' | 'tool' | 'input'> {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly toolSource: object;
}

export type SharedCalls = (event: ToolEvent, given: HandlerInput) => SharedCall;

export function createBeforeToolContext(
  event: ToolEvent,
  given: HandlerInput,
  calls: SharedCalls,
): AgentBeforeToolContext {
  const { snapshot, tool, toolCallId, toolName, input, toolSource } = calls(event, given);
  const metadata = { toolSource };
  return {
    snapshot,
    tool,
    toolCall: { type: 'tool-call', toolCallId, toolName, input, metadata },
    input,
  };
}

export function createAfterToolContext(
  event: HookEvent<'PostToolUse' | 'PostToolUseFailure'>,
  given: HandlerInput,
  calls: SharedCalls,
): AgentAfterToolContext {
  const { at, durationMs, result, replaced } = event;
  const { snapshot, tool, toolCall, input } = createBeforeToolContext(event, given, calls);
  return {
    snapshot,
    tool,
    toolCall,
    input,
    result:
      replaced === undefined
        ? toSdkResult(getToolCall(event) ?? event.tool, result, given.tool?.part ?? null)
        : createSdkResult(replaced.output, replaced.failed),
    startedAt: new Date(at - durationMs),
    endedAt: new Date(at),
    durationMs,
  };
}

export function createAfterModelContext(
  event: HookEvent<'ModelResponse'>,
  ports: PluginPorts,
): AgentAfterModelContext {
  const { model, at, iteration } = event;
  const answer: AssistantMessage = isAnswer(event.response)
    ? event.response
    : { role: 'assistant', content: [] };
  const note = ports.describeAnswer?.(event, answer) ?? {
    id: `assistant-${iteration}`,
    createdAt: at,
  };
  return {
    snapshot: ports.snapshot(event),
    assistantMessage: {
      ...createAgentMessage('assistant', note, answer.content.map(toPluginPart)),
      modelInfo: { id: model.id, provider: model.provider },
    },
    finishReason: toFinishReason(event.finishReason),
  };
}

/** The agent is the only one who fires it, and fires nothing else. */
function isAnswer(response: unknown): response is AssistantMessage {
  return isRecord(response) && Array.isArray(response['content']);
}
