import { isRefusal, listRefusingHooks, type Verdict } from '../hooks/decision.ts';
import type { AgentFacts, FiredEvent } from '../hooks/facts.ts';
import { createStopGuard, type StopGuard } from '../hooks/stop-guard.ts';
import type { Conversation } from './conversation/conversation.ts';
import { watchHookChanges } from './conversation/file-notes.ts';
import { LoopGuard } from './loop/loop-guard.ts';
import { NO_USAGE, type Model, type Usage } from './models/model.ts';
import { addUsage, computeCost } from './models/prices.ts';
import type { Denial, RuntimeFacts } from './runtime-event.ts';
import type { ImageBlock } from '../sessions/messages.ts';
import type { Tool } from './tools/tool.ts';
import type { ToolContext } from './tools/tool-context.ts';
import { type AgentState, createAgentState, type SessionContext } from './session-context.ts';

/** One running conversation: the session's own, or a sub-agent's. */
export interface Agent extends AgentState {
  /** The agent that waits for this one; null for the session's own. */
  readonly parent: Agent | null;
  readonly session: SessionContext;
  readonly toolContext: ToolContext;
  readonly tools: readonly Tool[];
  readonly conversation: Conversation;
  readonly stopGuard: StopGuard;
  readonly loopGuard: LoopGuard;
  /** Texts for the model that are sent with the next request: contexts of hooks, reminders. */
  readonly pendingContext: string[];
  /** Texts for the model about files that hooks changed, for the next result or request. */
  readonly fileNotes: string[];
  /** Messages that the user sent while the agent worked, and that it has not read. */
  readonly steering: SteeringMessage[];
  /** Images of the next prompt. */
  readonly images: ImageBlock[];
  readonly denials: Denial[];
  /** Ids of the hooks that refused last. */
  refusingHooks: readonly string[];
  readonly systemPrompt: () => string;
  /** The file of its own transcript; null when nothing is stored. */
  readonly transcriptPath: string | null;
  /** Whether it continues only because a hook did not let it end. */
  isHeldByHook: boolean;
  model: Model;
  promptId: string | null;
  toolCalls: number;
  /** Usage and cost of all runs. */
  readonly total: { usage: Usage; costUsd: number | null };
  /** When the model answered last, on the clock of the session; null before. */
  answeredAt: number | null;
  /** How many tokens the last request and its answer took. */
  contextTokens: number;
  /** Runs the hooks of an event. Rejects only when the signal aborts. */
  readonly fire: (event: FiredEvent, signal?: AbortSignal) => Promise<Verdict>;
  readonly emit: (facts: RuntimeFacts) => void;
  readonly recordUsage: (usage: Usage) => void;
  /** Adds usage, cost and denials of a sub-agent. */
  readonly includeSubagent: (other: Pick<Agent, 'usage' | 'costUsd' | 'denials'>) => void;
}

export interface SteeringMessage {
  readonly text: string;
  /** Called when the run ends before the agent has read it; without it, the user is warned. */
  readonly onUnread: (() => void) | undefined;
}

export interface NewAgent {
  readonly facts: AgentFacts;
  readonly parent: Agent | null;
  readonly session: SessionContext;
  readonly toolContext: ToolContext;
  /** The current tools; MCP servers connect and disconnect. */
  readonly tools: () => readonly Tool[];
  readonly conversation: Conversation;
  readonly systemPrompt: () => string;
  readonly transcriptPath: string | null;
  readonly model: Model;
  readonly promptId: string | null;
  /** Of the conversation that it begins with; 0 by default. */
  readonly contextTokens?: number;
}

export function createAgent(newAgent: NewAgent): Agent {
  const { session, facts } = newAgent;
  const agent: Agent = {
    ...createAgentState(facts, newAgent.conversation),
    ...newAgent,
    get tools() {
      return newAgent.tools();
    },
    stopGuard: createStopGuard(session.limits.stopCap),
    loopGuard: new LoopGuard(session.limits.loops),
    pendingContext: [],
    fileNotes: [],
    steering: [],
    images: [],
    denials: [],
    refusingHooks: [],
    isHeldByHook: false,
    toolCalls: 0,
    total: { usage: NO_USAGE, costUsd: 0 },
    answeredAt: null,
    contextTokens: newAgent.contextTokens ?? 0,
    async fire(event, signal) {
      // Event and moment stay apart, because joining them takes longer than most hooks.
      const moment = Object.assign(session.moment(), describeMoment(agent));
      const noteChanges = watchHookChanges(agent, event.name);
      const verdict = await session.engine.dispatch(
        event,
        signal === undefined ? { moment } : { moment, signal },
      );
      if (isRefusal(verdict.effect) || verdict.stop !== null) {
        agent.refusingHooks = listRefusingHooks(verdict);
      }
      if (shouldReport(verdict)) agent.emit({ type: 'hook', verdict });
      if (noteChanges !== null) await noteChanges(verdict);
      return verdict;
    },
    emit(runtimeFacts) {
      const { sessionId } = session;
      session.emit({
        sessionId,
        agentId: facts.id,
        parentAgentId: facts.parentId,
        ...runtimeFacts,
      });
    },
    recordUsage(usage) {
      addToCounts(agent, usage, computeCost(usage, agent.model.prices));
      agent.answeredAt = session.clock.now();
    },
    includeSubagent({ usage, costUsd, denials }) {
      addToCounts(agent, usage, costUsd);
      agent.denials.push(...denials);
    },
  };
  session.agents.set(facts.id, agent);
  return agent;
}

function addToCounts(agent: Agent, usage: Usage, costUsd: number | null): void {
  agent.usage = addUsage(agent.usage, usage);
  agent.costUsd = addCosts(agent.costUsd, costUsd);
  agent.total.usage = addUsage(agent.total.usage, usage);
  agent.total.costUsd = addCosts(agent.total.costUsd, costUsd);
}

/** No cost at all is better than a wrong one. */
function addCosts(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function describeMoment({ facts, toolContext, model, promptId, turn, session }: Agent) {
  const effort = turn.effort ?? session.effort ?? model.effort;
  return {
    agent: facts,
    cwd: toolContext.cwd(),
    model: { provider: model.provider, id: model.id },
    promptId,
    iteration: turn.iteration,
    ...(effort === undefined ? {} : { effort }),
  };
}

function shouldReport({ outcomes, skipped }: Verdict): boolean {
  return outcomes.length > 0 || skipped.some(({ kind }) => kind === 'withheld');
}
