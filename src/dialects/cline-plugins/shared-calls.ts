import type { HookEvent } from '../../hooks/facts.ts';
import type { HandlerInput } from '../../hooks/handler.ts';
import type { PluginPorts, SharedCall, SharedCalls, ToolEvent } from './contexts.ts';
import { createToolSource } from '../../plugins/messages/sdk-tool-names.ts';

/** Creates one call for all hooks of a dispatch; a hook that reads the conversation gets its own snapshot. */
export function createSharedCalls(ports: PluginPorts): SharedCalls {
  const findTool = createToolCache(ports);
  let last: { readonly given: HandlerInput; readonly call: SharedCall } | null = null;
  return (event, given) => {
    if (last?.given === given && ports.isUnread?.(last.call.snapshot) === true) return last.call;
    const call = createCall(event, given, { ports, findTool });
    last = { given, call };
    return call;
  };
}

interface CallServices {
  readonly ports: PluginPorts;
  readonly findTool: FindTool;
}

function createCall(
  event: ToolEvent,
  given: HandlerInput,
  { ports, findTool }: CallServices,
): SharedCall {
  const { callId: toolCallId, name, input } = event.tool;
  const toolName = given.tool?.name ?? name;
  return {
    snapshot: ports.snapshot(event),
    tool: findTool(toolName, event) ?? { name: toolName, description: '', inputSchema: {} },
    toolCallId,
    toolName,
    input: getInput(event, given) ?? input,
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
  let cached: { readonly name: string; readonly turn: Turn; readonly tool: FoundTool } | null =
    null;
  return (name, event) => {
    if (cached !== null && cached.name === name && isInTurn(cached.turn, event)) return cached.tool;
    const tool = ports.findTool(name);
    cached = { name, turn: getTurn(event), tool };
    return tool;
  };
}

interface Turn {
  readonly agentId: string;
  readonly promptId: string | null;
  readonly iteration: number;
}

function getTurn({ agent, promptId, iteration }: HookEvent): Turn {
  return { agentId: agent.id, promptId, iteration };
}

function isInTurn({ agentId, promptId, iteration }: Turn, event: HookEvent): boolean {
  return event.iteration === iteration && event.promptId === promptId && event.agent.id === agentId;
}
