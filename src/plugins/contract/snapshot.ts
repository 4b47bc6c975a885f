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
