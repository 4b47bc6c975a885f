import { randomUUID } from 'node:crypto';
import type { StoredSession } from '../sessions/session-store.ts';
import { type Agent, createAgent } from './agent.ts';
import { createConversation } from './conversation/conversation.ts';
import { formatContexts } from './conversation/hook-messages.ts';
import {
  type AgentType,
  findAgentType,
  GENERAL_PURPOSE,
  selectAgentTools,
} from './instructions/agents.ts';
import { runTurns, type TurnsEnd } from './loop/turns.ts';
import type { Usage } from './models/model.ts';
import type { Tool } from './tools/tool.ts';
import type { AgentTask, AgentReport, ToolContext } from './tools/tool-context.ts';

export interface SubagentMeans {
  readonly parent: () => Agent;
  readonly types: readonly AgentType[];
  readonly tools: readonly Tool[];
  readonly store: StoredSession | null;
  readonly benchAt: (cwd: string, agent: () => Agent) => ToolContext;
  readonly systemPrompt: (agent: Agent) => string;
}

/** Runs sub-agents, each with a conversation of its own; the only place where SubagentStart is fired. */
export function createSubagents(means: SubagentMeans) {
  return async (order: AgentTask, signal: AbortSignal): Promise<AgentReport> => {
    const { world } = means.parent();
    const startedAt = world.clock.elapsed();
    const type = findAgentType(order.agentType, means.types);
    if (type === null) return unknownType(means, order);
    const agent = await startAgent(means, { order, type });
    const end = await runToEnd(means, { agent, prompt: order.prompt }, signal);
    const isDone = end.ending === 'done';
    return {
      ...reportOf(agent),
      success: isDone,
      text: isDone ? end.text : `${end.text}\n\nThe sub-agent ended early: ${end.reason}`.trim(),
      durationMs: Math.round(world.clock.elapsed() - startedAt),
    };
  };
}

function unknownType({ parent, types }: SubagentMeans, { agentType }: AgentTask): AgentReport {
  const { model } = parent();
  const names = types.map(({ name }) => name).join(', ');
  return {
    agentId: '',
    agentType,
    model: model.id,
    success: false,
    text: `There is no kind of agent named ${JSON.stringify(agentType)}. These are there: ${names}.`,
    durationMs: 0,
    tokens: 0,
    toolCalls: 0,
    usage: {},
  };
}

interface Started {
  readonly agent: Agent;
  readonly prompt: string;
}

/** However it ends, nothing that it started goes on, and what it cost is counted. */
async function runToEnd(
  { parent }: SubagentMeans,
  { agent, prompt }: Started,
  signal: AbortSignal,
): Promise<TurnsEnd> {
  try {
    await announce(agent, signal);
    return await runTurns(agent, { prompt, deferred: null, contexts: [] }, signal);
  } finally {
    parent().answerFor(agent);
    await agent.bench.shells.closeAll();
  }
}

function reportOf({ facts, model, usage, toolCalls }: Agent) {
  return {
    agentId: facts.id,
    agentType: facts.type ?? GENERAL_PURPOSE,
    model: model.id,
    tokens: totalOf(usage),
    toolCalls,
    usage: {
      input_tokens: usage.inputTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      output_tokens: usage.outputTokens,
    },
  };
}

interface TypedOrder {
  readonly order: AgentTask;
  readonly type: AgentType;
}

async function startAgent(means: SubagentMeans, { order, type }: TypedOrder): Promise<Agent> {
  const parent = means.parent();
  const { world } = parent;
  const names = selectAgentTools(
    type,
    means.tools.map(({ name }) => name),
  );
  const tools = means.tools.filter(({ name }) => names.includes(name));
  const id = randomUUID().replaceAll('-', '').slice(0, 16);
  const bench = means.benchAt(parent.bench.cwd(), () => agent);
  const conversation = createConversation({
    store: means.store,
    agentId: id,
    clock: world.clock,
    cwd: () => bench.cwd(),
    promptId: () => parent.promptId,
  });
  const named = order.model ?? type.model;
  const own = type.prompt;
  const agent: Agent = createAgent({
    facts: { id, parentId: parent.facts.id, type: type.name },
    world,
    bench,
    tools: () => tools,
    conversation,
    systemPrompt: () =>
      own === '' ? means.systemPrompt(agent) : `${own}\n\n${means.systemPrompt(agent)}`,
    transcriptPath: means.store?.agentTranscriptPath(id) ?? null,
    model: named === null ? parent.model : await world.modelFor(named),
    promptId: parent.promptId,
  });
  return agent;
}

async function announce(agent: Agent, signal: AbortSignal): Promise<void> {
  const agentType = agent.facts.type ?? GENERAL_PURPOSE;
  const verdict = await agent.fire({ name: 'SubagentStart', agentType }, signal);
  agent.waiting.push(...formatContexts(verdict, { event: 'SubagentStart', subject: null }));
}

function totalOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
