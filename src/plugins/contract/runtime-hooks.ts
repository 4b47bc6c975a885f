import type { AgentMessage, AgentToolCallPart, GeneratedMedia } from './message.ts';
import type { AgentRuntimeStateSnapshot, AgentUsage, ProviderErrorClass } from './snapshot.ts';
import type { AgentTool, AgentToolResult } from './tool.ts';

/** The seven hooks that a plugin may have. Each may return its answer or a promise of it. */
export interface AgentRuntimeHooks {
  beforeRun(context: AgentBeforeRunContext): Answered<AgentRunStartResult>;
  afterRun(context: AgentAfterRunContext): unknown;
  beforeModel(context: AgentBeforeModelContext): Answered<AgentBeforeModelResult>;
  afterModel(context: AgentAfterModelContext): Answered<AgentAfterModelResult>;
  beforeTool(context: AgentBeforeToolContext): Answered<AgentBeforeToolResult>;
  afterTool(context: AgentAfterToolContext): Answered<AgentAfterToolResult>;
  onEvent(event: AgentRuntimeEvent): unknown;
}

export type HookName = keyof AgentRuntimeHooks;

export const HOOK_NAMES: readonly HookName[] = [
  'beforeRun',
  'afterRun',
  'beforeModel',
  'afterModel',
  'beforeTool',
  'afterTool',
  'onEvent',
];

/** Lists the hooks of an object, including methods of its class; other properties are ignored. */
export function listHookNames(hooks: object): readonly HookName[] {
  return HOOK_NAMES.filter((name) => typeof Reflect.get(hooks, name) === 'function');
}

// `void` lets authors write hooks that return nothing.
type Answered<Result> =
  | Result
  | undefined
  | null
  | void
  | Promise<Result | undefined | null | void>;

export interface AgentStopControl {
  stop?: boolean;
  reason?: string;
}

export interface AgentRunStartResult extends AgentStopControl {
  appendContext?: string;
}

export interface AgentBeforeModelResult extends AgentStopControl {
  /** Replaces the system prompt of the request. */
  systemPrompt?: string;
  messages?: readonly AgentMessage[];
  tools?: readonly AgentToolDefinition[];
  options?: Record<string, unknown>;
}

export interface AgentAfterModelResult extends AgentStopControl {
  /** Replaces the answer: its tool calls are made, and it is stored. */
  message?: AgentMessage;
}

export interface AgentBeforeToolResult extends AgentStopControl {
  /** The call is not made; the reason becomes its result. */
  skip?: boolean;
  input?: unknown;
  policy?: ToolPolicy;
  appendContext?: string;
}

export interface AgentAfterToolResult extends AgentStopControl {
  result?: AgentToolResult;
  appendContext?: string;
}

/** Whether a tool may be used, and whether each call needs an approval. */
export interface ToolPolicy {
  enabled?: boolean;
  autoApprove?: boolean;
}

/** What Hookline adds to the context of every hook; `@cline/core` has no such field yet. */
interface HookPlace {
  /** The directory that the session works in. */
  cwd?: string;
}

export interface AgentBeforeRunContext extends HookPlace {
  snapshot: AgentRuntimeStateSnapshot;
}

export interface AgentAfterRunContext extends HookPlace {
  snapshot: AgentRuntimeStateSnapshot;
  result: AgentRunResult;
}

export interface AgentBeforeModelContext extends HookPlace {
  snapshot: AgentRuntimeStateSnapshot;
  /** The request itself, which the hook may change in place. */
  request: AgentModelRequest;
}

export interface AgentAfterModelContext extends HookPlace {
  snapshot: AgentRuntimeStateSnapshot;
  assistantMessage: AgentMessage;
  finishReason: AgentFinishReason;
  requestId?: string;
}

export interface AgentBeforeToolContext extends HookPlace {
  snapshot: AgentRuntimeStateSnapshot;
  tool: AgentToolDefinition | AgentTool;
  toolCall: AgentToolCall;
  input: unknown;
}

export interface AgentAfterToolContext extends AgentBeforeToolContext {
  result: AgentToolResult;
  startedAt: Date;
  endedAt: Date;
  durationMs: number;
}

export type AgentToolCall = AgentToolCallPart;

export interface AgentModelRequest {
  systemPrompt?: string;
  messages: AgentMessage[];
  tools: AgentToolDefinition[];
  signal?: AbortSignal;
  options?: Record<string, unknown>;
}

export interface AgentToolDefinition {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

export type AgentFinishReason = 'stop' | 'tool-calls' | 'max-tokens' | 'aborted' | 'error';

export interface AgentRunResult {
  agentId: string;
  agentRole?: string;
  runId: string;
  status: 'completed' | 'aborted' | 'failed';
  iterations: number;
  outputText: string;
  messages: AgentMessage[];
  usage: AgentUsage;
  error?: Error;
  /** Why the run ended before it was done. */
  stopReason?: string;
}

export type AgentRuntimeEvent = { snapshot: AgentRuntimeStateSnapshot } & AgentRuntimeEventBody;

/** An event of a run, without the snapshot. */
export type AgentRuntimeEventBody =
  | { type: 'run-started' }
  | { type: 'message-added'; message: AgentMessage }
  | { type: 'turn-started'; iteration: number }
  | { type: 'assistant-text-delta'; iteration: number; text: string; accumulatedText: string }
  | {
      type: 'assistant-reasoning-delta';
      iteration: number;
      text: string;
      accumulatedText: string;
      redacted?: boolean;
      metadata?: unknown;
    }
  | { type: 'assistant-media'; iteration: number; media: GeneratedMedia }
  | {
      type: 'assistant-message';
      iteration: number;
      message: AgentMessage;
      finishReason: AgentFinishReason;
    }
  | { type: 'tool-started'; iteration: number; toolCall: AgentToolCall }
  | { type: 'tool-updated'; iteration: number; toolCall: AgentToolCall; update: unknown }
  | { type: 'tool-finished'; iteration: number; toolCall: AgentToolCall; message: AgentMessage }
  | { type: 'usage-updated'; usage: AgentUsage }
  | { type: 'turn-finished'; iteration: number; toolCallCount: number }
  | { type: 'status-notice'; message: string; metadata?: Record<string, unknown> }
  | { type: 'run-finished'; result: AgentRunResult }
  | { type: 'run-failed'; error: Error; errorClass?: ProviderErrorClass };
