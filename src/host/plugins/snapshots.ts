import type { RunResult } from '../../agent/runtime-event.ts';
import type { Usage } from '../../agent/models/model.ts';
import { HooklineError } from '../../base/errors.ts';
import {
  createGrowingMessages,
  type GrowingMessages,
} from '../../dialects/cline-plugin/growing-messages.ts';
import { toAgentMessages } from '../../dialects/cline-plugin/messages.ts';
import type { HookEvent } from '../../hooks/facts.ts';
import type { AgentMessage } from '../../plugins/contract/message.ts';
import type { AgentRunResult } from '../../plugins/contract/runtime-hooks.ts';
import {
  type AgentRuntimeStateSnapshot,
  type AgentUsage,
  shareSaid,
} from '../../plugins/contract/snapshot.ts';
import type { Message } from '../../sessions/messages.ts';
import type { AgentMirror, MirroredAgent } from './news/agent-mirror.ts';

export interface SnapshotMeans {
  readonly sessionId: string;
  readonly mirror: AgentMirror;
  /** What was said in the session so far. */
  readonly messages: () => readonly Message[];
}

/** Copies of what agents are like, for plugins. */
export interface Snapshots {
  of(agentId: string, parentAgentId?: string | null): AgentRuntimeStateSnapshot;
  at(event: HookEvent): AgentRuntimeStateSnapshot;
  /** Of the agent whose call it is. */
  ofCall(callId: string): AgentRuntimeStateSnapshot;
  resultOf(run: EndedRun): AgentRunResult;
}

/** What is known of a run when it has ended, whoever tells it. */
export interface EndedRun extends Pick<RunResult, 'status' | 'text' | 'reason'> {
  readonly ending: string;
}

export function createSnapshots(means: SnapshotMeans): Snapshots {
  const { mirror, sessionId } = means;
  const growing = new WeakMap<MirroredAgent, GrowingMessages>();
  const saidBy = (agent: MirroredAgent): readonly AgentMessage[] => {
    const grow = growing.get(agent) ?? createGrowingMessages();
    growing.set(agent, grow);
    return grow(agent.parentAgentId === null ? means.messages() : agent.said);
  };
  const of: Snapshots['of'] = (agentId, parentAgentId) => {
    const agent = mirror.agent(agentId, parentAgentId);
    return shareSaid(snapshotOf(agent, means), () => saidBy(agent));
  };
  return {
    of,
    at({ agent, iteration }) {
      const snapshot = of(agent.id, agent.parentId);
      snapshot.iteration = iteration;
      if (agent.type !== null) snapshot.agentRole = agent.type;
      return snapshot;
    },
    ofCall: (callId) => of(mirror.ofCall(callId)?.agentId ?? sessionId),
    resultOf(run) {
      const { runId, iteration, usage } = mirror.agent(sessionId);
      const status = pluginStatus(run);
      const { text, reason } = run;
      const result: AgentRunResult = {
        agentId: sessionId,
        runId: runId ?? '',
        status,
        iterations: iteration,
        outputText: text,
        messages: toAgentMessages(means.messages()),
        usage: usageOf(usage),
        ...(reason === null ? {} : { stopReason: reason }),
        ...(status === 'failed' ? { error: failureOf(reason) } : {}),
      };
      return shareSaid(result, () => saidBy(mirror.agent(sessionId)));
    },
  };
}

function failureOf(reason: string | null): Error {
  return new HooklineError('MODEL_FAILED', { message: reason ?? 'the run failed' });
}

/** Cline's words: a hook that stops a run aborts it, and one that runs out of turns fails. */
export function pluginStatus({ status, ending }: EndedRun): AgentRunResult['status'] {
  if (ending === 'stopped_by_hook' || ending === 'refused' || ending === 'loop') return 'aborted';
  return ending === 'max_turns' ? 'failed' : status;
}

export function usageOf(usage: Usage): AgentUsage {
  return { ...usage };
}

/** The messages are copied only for whoever looks at them: most events are pieces of text. */
function snapshotOf(agent: MirroredAgent, means: SnapshotMeans): AgentRuntimeStateSnapshot {
  const { agentId, parentAgentId, runId, status, iteration, pending, usage, lastError } = agent;
  let copied: AgentMessage[] | null = null;
  const said = parentAgentId === null ? means.messages : () => agent.said;
  return {
    agentId,
    parentAgentId,
    conversationId: means.sessionId,
    ...(runId === null ? {} : { runId }),
    status,
    iteration,
    get messages() {
      copied ??= toAgentMessages(said());
      return copied;
    },
    set messages(messages) {
      copied = messages;
    },
    pendingToolCalls: [...pending],
    usage: usageOf(usage),
    ...(lastError === null ? {} : { lastError }),
  };
}
