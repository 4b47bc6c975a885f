import type { Verdict } from '../hooks/decision.ts';
import type { AgentFacts, FiredEvent } from '../hooks/facts.ts';
import { createStopGuard, type StopGuard } from '../hooks/stop-guard.ts';
import type { Conversation } from './conversation/conversation.ts';
import { createLoopGuard, type LoopGuard } from './loop/loop-guard.ts';
import { NO_USAGE, type Model, type Usage } from './models/model.ts';
import { addUsage, computeCost } from './models/prices.ts';
import type { Denial, RuntimeFacts } from './runtime-event.ts';
import type { ImageBlock } from '../sessions/messages.ts';
import type { Tool } from './tools/tool.ts';
import type { ToolContext } from './tools/tool-context.ts';
import type { World } from './world.ts';

/** One conversation that is being had: the session's own, or a sub-agent's. */
export interface Agent {
  readonly facts: AgentFacts;
  readonly world: World;
  readonly bench: ToolContext;
  readonly tools: readonly Tool[];
  readonly conversation: Conversation;
  readonly stopGuard: StopGuard;
  readonly loopGuard: LoopGuard;
  /** Texts for the model that go out with the next request: contexts of hooks, news. */
  readonly waiting: string[];
  /** What a person said while the agent worked. */
  readonly steering: string[];
  /** What the person shows with the next prompt. */
  readonly images: ImageBlock[];
  readonly denials: Denial[];
  readonly systemPrompt: () => string;
  /** Where its own transcript stands; null when nothing is kept. */
  readonly transcriptPath: string | null;
  /** Whether it goes on only because a hook did not let it end. */
  isKeptFromEnding: boolean;
  model: Model;
  promptId: string | null;
  /** Number of the model request within the run, from 1. */
  iteration: number;
  toolCalls: number;
  usage: Usage;
  /** What this took in US dollars; null once a model had no known price. */
  costUsd: number | null;
  /** The same of all runs. */
  readonly total: { usage: Usage; costUsd: number | null };
  /** When the model answered last, on the clock of the session; null before. */
  answeredAt: number | null;
  /** How many tokens the last request and its answer took. */
  contextTokens: number;
  /** Runs the hooks of a moment. Rejects only when the signal aborts. */
  readonly fire: (event: FiredEvent, signal?: AbortSignal) => Promise<Verdict>;
  readonly tell: (facts: RuntimeFacts) => void;
  readonly spend: (usage: Usage) => void;
  /** What a sub-agent took and was denied counts for whoever started it. */
  readonly answerFor: (other: Pick<Agent, 'usage' | 'costUsd' | 'denials'>) => void;
}

export interface NewAgent {
  readonly facts: AgentFacts;
  readonly world: World;
  readonly bench: ToolContext;
  /** Those that there are now; servers come and go. */
  readonly tools: () => readonly Tool[];
  readonly conversation: Conversation;
  readonly systemPrompt: () => string;
  readonly transcriptPath: string | null;
  readonly model: Model;
  readonly promptId: string | null;
}

export function createAgent(made: NewAgent): Agent {
  const { world, facts } = made;
  const agent: Agent = {
    ...made,
    get tools() {
      return made.tools();
    },
    stopGuard: createStopGuard(world.limits.stopCap),
    loopGuard: createLoopGuard(world.limits.loops),
    waiting: [],
    steering: [],
    images: [],
    denials: [],
    isKeptFromEnding: false,
    iteration: 0,
    toolCalls: 0,
    usage: NO_USAGE,
    costUsd: 0,
    total: { usage: NO_USAGE, costUsd: 0 },
    answeredAt: null,
    contextTokens: 0,
    async fire(event, signal) {
      // What the engine takes apart again is not put together first: that takes longer than most hooks.
      const moment = Object.assign(world.moment(), ownMoment(agent));
      const verdict = await world.engine.dispatch(
        event,
        signal === undefined ? { moment } : { moment, signal },
      );
      if (isWorthTelling(verdict)) agent.tell({ type: 'hook', verdict });
      return verdict;
    },
    tell(news) {
      const { sessionId } = world;
      world.emit({ sessionId, agentId: facts.id, parentAgentId: facts.parentId, ...news });
    },
    spend(usage) {
      count(agent, usage, computeCost(usage, agent.model.prices));
      agent.answeredAt = world.clock.now();
    },
    answerFor({ usage, costUsd, denials }) {
      count(agent, usage, costUsd);
      agent.denials.push(...denials);
    },
  };
  return agent;
}

function count(agent: Agent, usage: Usage, costUsd: number | null): void {
  agent.usage = addUsage(agent.usage, usage);
  agent.costUsd = addCosts(agent.costUsd, costUsd);
  agent.total.usage = addUsage(agent.total.usage, usage);
  agent.total.costUsd = addCosts(agent.total.costUsd, costUsd);
}

/** No cost at all is better than a wrong one. */
function addCosts(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function ownMoment({ facts, bench, model, promptId, iteration }: Agent) {
  return {
    agent: facts,
    cwd: bench.cwd(),
    model: { provider: model.provider, id: model.id },
    promptId,
    iteration,
  };
}

function isWorthTelling({ outcomes, skipped }: Verdict): boolean {
  return outcomes.length > 0 || skipped.some(({ kind }) => kind === 'withheld');
}
