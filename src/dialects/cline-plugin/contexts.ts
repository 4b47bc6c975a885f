import { isRecord } from '../../base/json.ts';
import type { HandlerInput } from '../../hooks/handler.ts';
import { callOf, type HookEvent } from '../../hooks/facts.ts';
import { resultOf, type ToolResult, vocabularyOfName } from '../../hooks/faces/faces.ts';
import type { AssistantMessage } from '../../sessions/messages.ts';
import type {
  AgentAfterModelContext,
  AgentAfterToolContext,
  AgentBeforeToolContext,
  AgentFinishReason,
  AgentRunResult,
  AgentToolDefinition,
} from '../../plugins/contract/runtime-hooks.ts';
import type { AgentRuntimeStateSnapshot, AgentUsage } from '../../plugins/contract/snapshot.ts';
import type { AgentTool, AgentToolResult } from '../../plugins/contract/tool.ts';
import { agentMessage, assistantPart } from './messages.ts';

/** What hooks of plugins are told that the event itself does not say. */
export interface PluginPorts {
  snapshot(event: HookEvent): AgentRuntimeStateSnapshot;
  /** Whether nobody has looked at the conversation in it, so that the next hook may have it, too. */
  isUnread?(snapshot: AgentRuntimeStateSnapshot): boolean;
  runResult(event: HookEvent<'RunEnd'>): AgentRunResult;
  /** What one answer of the model took; what the run took so far where nobody knows. */
  usageOfAnswer?(event: HookEvent<'ModelResponse'>): AgentUsage;
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

export function beforeToolContext(
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

export function afterToolContext(
  event: HookEvent<'PostToolUse' | 'PostToolUseFailure'>,
  given: HandlerInput,
  calls: SharedCalls,
): AgentAfterToolContext {
  const { at, durationMs, result, replaced } = event;
  const { snapshot, tool, toolCall, input } = beforeToolContext(event, given, calls);
  return {
    snapshot,
    tool,
    toolCall,
    input,
    result:
      replaced === undefined
        ? toolResult(event, result, given.tool?.part ?? null)
        : resultWith(replaced.output, replaced.failed),
    startedAt: new Date(at - durationMs),
    endedAt: new Date(at),
    durationMs,
  };
}

function toolResult(event: ToolEvent, result: ToolResult, part: number | null): AgentToolResult {
  const call = callOf(event) ?? event.tool;
  const isBuiltIn = vocabularyOfName(call.name) !== null;
  if (!result.success && (!isBuiltIn || result.response === undefined)) {
    return { output: { error: result.error ?? result.text }, isError: true };
  }
  const output = isBuiltIn
    ? resultOf(call, result, { vocabulary: 'sdk', part })
    : (result.response ?? result.text);
  return resultWith(output, !result.success);
}

function resultWith(output: unknown, isError: boolean): AgentToolResult {
  return isError ? { output, isError } : { output };
}

export function afterModelContext(
  event: HookEvent<'ModelResponse'>,
  ports: PluginPorts,
): AgentAfterModelContext {
  const snapshot = ports.snapshot(event);
  const content = isAnswer(event.response) ? event.response.content : [];
  const id = `assistant-${event.iteration}`;
  const message = agentMessage('assistant', id, content.map(assistantPart));
  const { model, at } = event;
  return {
    snapshot,
    assistantMessage: {
      ...message,
      createdAt: at,
      modelInfo: { id: model.id, provider: model.provider },
      metrics: { ...(ports.usageOfAnswer?.(event) ?? snapshot.usage) },
    },
    finishReason: finishReasonOf(event.finishReason),
  };
}

/** The agent is the only one who fires it, and fires nothing else. */
function isAnswer(response: unknown): response is AssistantMessage {
  return isRecord(response) && Array.isArray(response['content']);
}

export function finishReasonOf(reason: string): AgentFinishReason {
  if (reason === 'length') return 'max-tokens';
  return reason === 'stop' || reason === 'tool-calls' ? reason : 'error';
}
