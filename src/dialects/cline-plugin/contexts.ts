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
import type { AgentRuntimeStateSnapshot } from '../../plugins/contract/snapshot.ts';
import type { AgentTool, AgentToolResult } from '../../plugins/contract/tool.ts';
import { agentMessage, assistantPart } from './messages.ts';

/** What hooks of plugins are told that the event itself does not say. */
export interface PluginPorts {
  snapshot(event: HookEvent): AgentRuntimeStateSnapshot;
  runResult(event: HookEvent<'RunEnd'>): AgentRunResult;
  /** As the model is told of it, or as its plugin made it. */
  findTool(name: string): AgentToolDefinition | AgentTool | null;
}

type ToolEvent = HookEvent<'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure'>;

export function beforeToolContext(
  event: ToolEvent,
  { tool: view }: HandlerInput,
  ports: PluginPorts,
): AgentBeforeToolContext {
  const { callId: toolCallId } = event.tool;
  const toolName = view?.name ?? event.tool.name;
  const input = view?.input ?? event.tool.input;
  const { provider: providerId, id: modelId } = event.model;
  const metadata = { toolSource: { providerId, modelId, executionMode: 'sequential' } };
  return {
    snapshot: ports.snapshot(event),
    tool: ports.findTool(toolName) ?? { name: toolName, description: '', inputSchema: {} },
    toolCall: { type: 'tool-call', toolCallId, toolName, input, metadata },
    input,
  };
}

export function afterToolContext(
  event: HookEvent<'PostToolUse' | 'PostToolUseFailure'>,
  given: HandlerInput,
  ports: PluginPorts,
): AgentAfterToolContext {
  const { at, durationMs, result, replaced } = event;
  return {
    ...beforeToolContext(event, given, ports),
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
      metrics: { ...snapshot.usage },
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
