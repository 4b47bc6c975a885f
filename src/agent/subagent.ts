import { randomUUID } from 'node:crypto';
import type { StoredSession } from '../sessions/session-store.ts';
import { type Agent, createAgent } from './agent.ts';
import { Conversation } from './conversation/conversation.ts';
import { formatContexts } from './conversation/hook-messages.ts';
import {
  type AgentType,
  findAgentType,
  GENERAL_PURPOSE,
  selectAgentTools,
} from './instructions/agents.ts';
import { run } from './run.ts';
import type { RunEnding, RunResult } from './runtime-event.ts';
import type { Usage } from './models/model.ts';
import type { Tool } from './tools/tool.ts';
import type { AgentTask, AgentReport, ToolContext } from './tools/tool-context.ts';

interface SubagentOptions {
  readonly parent: () => Agent;
  readonly types: readonly AgentType[];
  readonly tools: readonly Tool[];
  readonly store: StoredSession | null;
  readonly createToolContextAt: (cwd: string, agent: () => Agent) => ToolContext;
  readonly systemPrompt: (agent: Agent) => string;
}

/** Runs sub-agents, each with a separate conversation; the only place where SubagentStart is fired. */
export function createSubagentRunner(options: SubagentOptions) {
  return async (task: AgentTask, signal: AbortSignal): Promise<AgentReport> => {
    const { session } = options.parent();
    const startedAt = session.clock.elapsed();
    const type = findAgentType(task.agentType, options.types);
    if (type === null) return reportUnknownType(options, task);
    const agent = await createSubagent(options, task, type);
    const end = await runToEnd(agent, options.parent(), task.prompt, signal);
    const isDone = end.ending === 'done';
    return {
      ...buildReport(agent),
      success: isDone,
      text: isDone ? end.text : `${end.text}\n\nThe sub-agent ended early: ${end.reason}`.trim(),
      durationMs: Math.round(session.clock.elapsed() - startedAt),
      ...(HOOK_ENDINGS.includes(end.ending) ? { refusedByHook: true } : {}),
    };
  };
}

const HOOK_ENDINGS: readonly RunEnding[] = ['refused', 'stopped_by_hook'];

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

/** However it ends, its shells are closed and its usage is counted. */
async function runToEnd(
  agent: Agent,
  parent: Agent,
  prompt: string,
  signal: AbortSignal,
): Promise<RunResult> {
  try {
    await fireSubagentStart(agent, signal);
    return await run(agent, prompt, null, signal);
  } finally {
    parent.includeSubagent(agent);
    agent.session.agents.delete(agent.facts.id);
    await agent.toolContext.shells.closeAll();
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

async function createSubagent(
  options: SubagentOptions,
  task: AgentTask,
  type: AgentType,
): Promise<Agent> {
  const parent = options.parent();
  const { session } = parent;
  const names = selectAgentTools(
    type,
    options.tools.map(({ name }) => name),
  );
  const tools = options.tools.filter(({ name }) => names.includes(name));
  const id = randomUUID().replaceAll('-', '').slice(0, 16);
  const toolContext = options.createToolContextAt(parent.toolContext.cwd(), () => agent);
  const conversation = new Conversation({
    store: options.store,
    agentId: id,
    clock: session.clock,
    cwd: () => toolContext.cwd(),
    promptId: () => parent.promptId,
  });
  const modelName = task.model ?? type.model;
  const agent: Agent = createAgent({
    facts: { id, parentId: parent.facts.id, type: type.name },
    parent,
    session,
    toolContext,
    tools: () => tools,
    conversation,
    systemPrompt: () => {
      const systemPrompt = options.systemPrompt(agent);
      return type.prompt === '' ? systemPrompt : `${type.prompt}\n\n${systemPrompt}`;
    },
    transcriptPath: options.store?.agentTranscriptPath(id) ?? null,
    model: modelName === null ? parent.model : await session.openModel(modelName),
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
