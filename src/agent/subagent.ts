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

export interface SubagentOptions {
  readonly parent: () => Agent;
  readonly types: readonly AgentType[];
  readonly tools: readonly Tool[];
  readonly store: StoredSession | null;
  readonly benchAt: (cwd: string, agent: () => Agent) => ToolContext;
  readonly systemPrompt: (agent: Agent) => string;
}

/** Runs sub-agents, each with a conversation of its own; the only place where SubagentStart is fired. */
export function createSubagentRunner(means: SubagentOptions) {
  return async (order: AgentTask, signal: AbortSignal): Promise<AgentReport> => {
    const { session } = means.parent();
    const startedAt = session.clock.elapsed();
    const type = findAgentType(order.agentType, means.types);
    if (type === null) return reportUnknownType(means, order);
    const agent = await createSubagent(means, { order, type });
    const end = await runToEnd(means, { agent, prompt: order.prompt }, signal);
    const isDone = end.ending === 'done';
    return {
      ...buildReport(agent),
      success: isDone,
      text: isDone ? end.text : `${end.text}\n\nThe sub-agent ended early: ${end.reason}`.trim(),
      durationMs: Math.round(session.clock.elapsed() - startedAt),
    };
  };
}

function reportUnknownType(
  { parent, types }: SubagentOptions,
  { agentType }: AgentTask,
): AgentReport {
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

/** However it ends, its shells are closed and its usage is counted. */
async function runToEnd(
  { parent }: SubagentOptions,
  { agent, prompt }: Started,
  signal: AbortSignal,
): Promise<TurnsEnd> {
  try {
    await fireSubagentStart(agent, signal);
    return await runTurns(agent, prompt, null, [], signal);
  } finally {
    parent().includeSubagent(agent);
    await agent.bench.shells.closeAll();
  }
}

function buildReport({ facts, model, usage, toolCalls }: Agent) {
  return {
    agentId: facts.id,
    agentType: facts.type ?? GENERAL_PURPOSE,
    model: model.id,
    tokens: countTokens(usage),
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

async function createSubagent(means: SubagentOptions, { order, type }: TypedOrder): Promise<Agent> {
  const parent = means.parent();
  const { session } = parent;
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
    clock: session.clock,
    cwd: () => bench.cwd(),
    promptId: () => parent.promptId,
  });
  const named = order.model ?? type.model;
  const own = type.prompt;
  const agent: Agent = createAgent({
    facts: { id, parentId: parent.facts.id, type: type.name },
    session,
    bench,
    tools: () => tools,
    conversation,
    systemPrompt: () =>
      own === '' ? means.systemPrompt(agent) : `${own}\n\n${means.systemPrompt(agent)}`,
    transcriptPath: means.store?.agentTranscriptPath(id) ?? null,
    model: named === null ? parent.model : await session.openModel(named),
    promptId: parent.promptId,
  });
  return agent;
}

async function fireSubagentStart(agent: Agent, signal: AbortSignal): Promise<void> {
  const agentType = agent.facts.type ?? GENERAL_PURPOSE;
  const verdict = await agent.fire({ name: 'SubagentStart', agentType }, signal);
  agent.pendingContext.push(...formatContexts(verdict, { event: 'SubagentStart', subject: null }));
}

function countTokens({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
}: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
