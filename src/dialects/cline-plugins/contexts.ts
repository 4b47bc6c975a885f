import { isRecord } from '../../base/json.ts';
import type { HandlerInput } from '../../hooks/handler.ts';
import { getToolCall, type HookEvent } from '../../hooks/facts.ts';
import type { AssistantMessage } from '../../sessions/messages.ts';
import type {
  AgentAfterModelContext,
  AgentAfterToolContext,
  AgentBeforeToolContext,
} from '../../plugins/contract/runtime-hooks.ts';
import { createAgentMessage, toPluginPart } from '../../plugins/messages/agent-messages.ts';
import {
  toFinishReason,
  toSdkResult,
  createSdkResult,
  createToolSource,
} from '../../plugins/messages/sdk-tool-names.ts';
import type { PluginPorts } from '../ports.ts';

type ToolEvent = HookEvent<'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure'>;

/** The facts about a call that all hooks of one dispatch share. */
interface SharedCall extends Pick<AgentBeforeToolContext, 'snapshot' | 'tool' | 'input'> {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly toolSource: object;
}

export type SharedCalls = (event: ToolEvent, input: HandlerInput) => SharedCall;

export function createBeforeToolContext(
  event: ToolEvent,
  handlerInput: HandlerInput,
  calls: SharedCalls,
): AgentBeforeToolContext {
  const { snapshot, tool, toolCallId, toolName, input, toolSource } = calls(event, handlerInput);
  const metadata = { toolSource };
  return {
    snapshot,
    tool,
    toolCall: { type: 'tool-call', toolCallId, toolName, input, metadata },
    input,
    cwd: event.cwd,
  };
}

export function createAfterToolContext(
  event: HookEvent<'PostToolUse' | 'PostToolUseFailure'>,
  handlerInput: HandlerInput,
  calls: SharedCalls,
): AgentAfterToolContext {
  const { at, durationMs, result, replaced } = event;
  const { snapshot, tool, toolCall, input } = createBeforeToolContext(event, handlerInput, calls);
  return {
    snapshot,
    tool,
    toolCall,
    input,
    result:
      replaced === undefined
        ? toSdkResult(getToolCall(event) ?? event.tool, result, handlerInput.tool?.part ?? null)
        : createSdkResult(replaced.output, replaced.failed),
    cwd: event.cwd,
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
    cwd: event.cwd,
  };
}

/** A shallow check is enough, because only the agent fires this event. */
function isAnswer(response: unknown): response is AssistantMessage {
  return isRecord(response) && Array.isArray(response['content']);
}

/** Creates one call for all hooks of a dispatch; a hook that reads the conversation gets its own snapshot. */
export function createSharedCalls(ports: PluginPorts): SharedCalls {
  const findTool = createToolCache(ports);
  let last: { readonly input: HandlerInput; readonly call: SharedCall } | null = null;
  return (event, input) => {
    if (last?.input === input && ports.isUnread?.(last.call.snapshot) === true) return last.call;
    const call = createCall(event, input, ports, findTool);
    last = { input, call };
    return call;
  };
}

function createCall(
  event: ToolEvent,
  handlerInput: HandlerInput,
  ports: PluginPorts,
  findTool: FindTool,
): SharedCall {
  const { callId: toolCallId, name, input } = event.tool;
  const toolName = handlerInput.tool?.name ?? name;
  return {
    snapshot: ports.snapshot(event),
    tool: findTool(toolName, event) ?? { name: toolName, description: '', inputSchema: {} },
    toolCallId,
    toolName,
    input: getInput(event, handlerInput) ?? input,
    toolSource: createToolSource(event.model),
  };
}

function getInput({ handed }: ToolEvent, { tool }: HandlerInput): unknown {
  if (tool === null) return undefined;
  return handed === undefined ? tool.input : handed.of(tool, 'sdk');
}

type FoundTool = ReturnType<PluginPorts['findTool']>;
type FindTool = (name: string, event: HookEvent) => FoundTool;

/** Caches the tool for a turn, in which the model's tools do not change. */
function createToolCache(ports: PluginPorts): FindTool {
  let cached: { readonly name: string; readonly at: HookEvent; readonly tool: FoundTool } | null =
    null;
  return (name, event) => {
    if (cached !== null && cached.name === name && isSameTurn(cached.at, event)) return cached.tool;
    const tool = ports.findTool(name);
    cached = { name, at: event, tool };
    return tool;
  };
}

function isSameTurn(one: HookEvent, other: HookEvent): boolean {
  return (
    one.iteration === other.iteration &&
    one.promptId === other.promptId &&
    one.agent.id === other.agent.id
  );
}
