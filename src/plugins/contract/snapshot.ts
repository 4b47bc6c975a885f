import type { AgentMessage } from './message.ts';

/** A copy of what an agent is like at a moment. */
export interface AgentRuntimeStateSnapshot {
  agentId: string;
  agentRole?: string;
  parentAgentId?: string | null;
  conversationId?: string;
  runId?: string;
  status: 'idle' | 'running' | 'completed' | 'aborted' | 'failed';
  iteration: number;
  messages: AgentMessage[];
  pendingToolCalls: string[];
  usage: AgentUsage;
  lastError?: string;
}

export interface AgentUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokenCount?: number;
  totalCost?: number;
}

const said = new WeakMap<object, () => readonly AgentMessage[]>();

/**
 * Keeps, beside a snapshot or the result of a run, the conversation for whoever only reads it: always
 * the same list, which only grows, until the conversation is another one. Nothing is copied for it.
 */
export function shareSaid<Owner extends object>(
  owner: Owner,
  messages: () => readonly AgentMessage[],
): Owner {
  said.set(owner, messages);
  return owner;
}

export function sharedSaid(owner: object): readonly AgentMessage[] | null {
  return said.get(owner)?.() ?? null;
}
