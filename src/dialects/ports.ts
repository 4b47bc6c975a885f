import type { HookEvent } from '../hooks/facts.ts';
import type { ModelQuestion } from '../hooks/model-question.ts';
import type { AgentRunResult, AgentToolDefinition } from '../plugins/contract/runtime-hooks.ts';
import type { AgentRuntimeStateSnapshot } from '../plugins/contract/snapshot.ts';
import type { AgentTool } from '../plugins/contract/tool.ts';
import type { MessageNote } from '../plugins/messages/agent-messages.ts';
import type { AssistantMessage } from '../sessions/messages.ts';

/** Answers with the model's text. Rejects when there is none, or when the signal aborts. */
export type AskModel = (question: ModelQuestion, signal: AbortSignal) => Promise<string>;

export interface McpCall {
  readonly server: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface McpAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/** Calls a tool of a connected MCP server; null when no such server is connected. */
export type CallMcp = (call: McpCall, signal: AbortSignal) => Promise<McpAnswer | null>;

/**
 * Services of a host for hooks that need more than a process. Without one, those hooks fail with a
 * message.
 */
export interface HookPorts {
  readonly askModel?: AskModel;
  readonly callMcp?: CallMcp;
}

/** Provides what hooks of plugins get besides the event. */
export interface PluginPorts {
  snapshot(event: HookEvent): AgentRuntimeStateSnapshot;
  /** Whether no hook has read the conversation in a snapshot, so that the next hook may share it. */
  isUnread?(snapshot: AgentRuntimeStateSnapshot): boolean;
  /** The options of a model request, with its metadata, besides what the event contains. */
  requestOptions?(event: HookEvent<'ModelRequest'>): Readonly<Record<string, unknown>>;
  runResult(event: HookEvent<'RunEnd'>): AgentRunResult;
  /** Describes the id, time and usage of an answer. */
  describeAnswer?(event: HookEvent<'ModelResponse'>, answer: AssistantMessage): MessageNote;
  /** Finds a tool as the model gets it, or as its plugin created it. */
  findTool(name: string): AgentToolDefinition | AgentTool | null;
}

export interface PluginHooksOptions {
  readonly ports: PluginPorts;
  /** Whether a failed hook refuses the action and is never disabled after repeated failures. */
  readonly failsClosed: boolean;
  /** The time limit of one hook. */
  readonly timeoutMs: number;
}
