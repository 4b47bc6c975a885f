import type { RunResult } from '../../../agent/runtime-event.ts';
import type { Usage } from '../../../agent/models/model.ts';
import { HooklineError } from '../../../base/errors.ts';
import {
  createIncrementalMessages,
  type IncrementalMessages,
} from '../../../plugins/messages/incremental-messages.ts';
import { createAgentMessage, type MessageNote } from '../../../plugins/messages/agent-messages.ts';
import type { HookEvent } from '../../../hooks/facts.ts';
import type { AgentMessage } from '../../../plugins/contract/message.ts';
import type { AgentRunResult } from '../../../plugins/contract/runtime-hooks.ts';
import {
  type AgentRuntimeStateSnapshot,
  type AgentUsage,
  isUntouched,
  defineMessages,
  shareMessages,
} from '../../../plugins/contract/snapshot.ts';
import type { AgentState } from './agent-state.ts';
import { createToldMessages, type ToldMeans, type ToldMessages } from './plugin-messages.ts';

export interface SnapshotMeans extends ToldMeans {
  readonly sessionId: string;
}

/** Copies of what agents are like, for plugins. */
export interface Snapshots {
  of(agentId: string, parentAgentId?: string | null): AgentRuntimeStateSnapshot;
  at(event: HookEvent): AgentRuntimeStateSnapshot;
  /** The conversation as plugins are told it. */
  readonly told: ToldMessages;
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
  const told = createToldMessages(means);
  const growing = new WeakMap<AgentState, IncrementalMessages>();
  const saidBy = (agent: AgentState): readonly AgentMessage[] => {
    const grow = growing.get(agent) ?? createIncrementalMessages(told.noteOf);
    growing.set(agent, grow);
    return grow(agent.parentAgentId === null ? means.messages() : agent.said);
  };
  let last: AgentRuntimeStateSnapshot | null = null;
  const take = (moment: AgentMoment): AgentRuntimeStateSnapshot => {
    // Most events are pieces of text, and between two of them nothing has changed.
    if (last !== null && isStill(last, moment)) return last;
    const said = (): readonly AgentMessage[] => saidBy(moment.agent);
    return (last = shareMessages(buildSnapshot(moment, means, told), said));
  };
  const of: Snapshots['of'] = (agentId, parentAgentId) => {
    const agent = mirror.agent(agentId, parentAgentId);
    return take({ agent, iteration: agent.iteration, role: null });
  };
  return {
    told,
    of,
    at(event) {
      const { agent: own, iteration } = event;
      const agent = mirror.agent(own.id, own.parentId);
      const moment = { agent, iteration, role: own.type };
      if (event.name === 'RunStart') {
        return withPrompt(buildSnapshot(moment, means, told), event.prompt, told.next());
      }

      return take(event.name === 'RunEnd' ? { ...moment, status: toStatus(event) } : moment);
    },
    ofCall: (callId) => of(mirror.ofCall(callId)?.agentId ?? sessionId),
    resultOf(run) {
      const { runId, iteration, usage } = mirror.agent(sessionId);
      const status = toPluginStatus(run);
      const { text, reason } = run;
      const result: AgentRunResult = {
        agentId: sessionId,
        runId: runId ?? '',
        status,
        iterations: iteration,
        outputText: text,
        messages: told.all(means.messages()),
        usage: toAgentUsage(usage),
        ...(reason === null ? {} : { stopReason: reason }),
        ...(status === 'failed' ? { error: describeFailure(reason) } : {}),
      };
      return shareMessages(result, () => saidBy(mirror.agent(sessionId)));
    },
  };
}

function describeFailure(reason: string | null): Error {
  return new HooklineError('MODEL_FAILED', { message: reason ?? 'the run failed' });
}

function toStatus({ status, ending = status }: HookEvent<'RunEnd'>): AgentRunResult['status'] {
  return toPluginStatus({ status, ending });
}

/** When a run begins its prompt is not yet a part of the conversation, which plugins expect. */
function withPrompt(
  snapshot: AgentRuntimeStateSnapshot,
  prompt: string,
  note: MessageNote,
): AgentRuntimeStateSnapshot {
  const { messages } = snapshot;
  const said = createAgentMessage('user', note, [{ type: 'text', text: prompt }]);
  return { ...snapshot, messages: [...messages, said] };
}

/** Cline's words: a hook that stops a run aborts it, and one that runs out of turns fails. */
export function toPluginStatus({
  status,
  ending,
}: Pick<EndedRun, 'status' | 'ending'>): AgentRunResult['status'] {
  if (ending === 'stopped_by_hook' || ending === 'refused' || ending === 'loop') return 'aborted';
  return ending === 'max_turns' ? 'failed' : status;
}

export function toAgentUsage(usage: Usage): AgentUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd } = usage;
  const tokens = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  return costUsd === undefined ? tokens : { ...tokens, totalCost: costUsd };
}

/** An agent as an event tells of it. */
interface AgentMoment {
  readonly agent: AgentState;
  readonly iteration: number;
  readonly role: string | null;
  /** Where the event knows more of it than the agent has told. */
  readonly status?: AgentRuntimeStateSnapshot['status'];
}

function buildSnapshot(
  { agent, iteration, role, status = agent.status }: AgentMoment,
  means: SnapshotMeans,
  told: ToldMessages,
): AgentRuntimeStateSnapshot {
  const { agentId, parentAgentId, runId, pending, usage, lastError } = agent;
  const snapshot: Omit<AgentRuntimeStateSnapshot, 'messages'> = {
    agentId,
    parentAgentId,
    conversationId: means.sessionId,
    status,
    iteration,
    pendingToolCalls: [...pending.keys()],
    usage: toAgentUsage(usage),
  };
  if (runId !== null) snapshot.runId = runId;
  if (role !== null) snapshot.agentRole = role;
  if (lastError !== null) snapshot.lastError = lastError;
  const said = parentAgentId === null ? means.messages : () => agent.said;
  defineMessages(snapshot, () => told.all(said()));
  return snapshot;
}

/** Whether it says what is true now, and no plugin has read its messages or changed anything in it. */
function isStill(
  snapshot: AgentRuntimeStateSnapshot,
  { agent, iteration, role, status = agent.status }: AgentMoment,
): boolean {
  return (
    isUntouched(snapshot) &&
    snapshot.agentId === agent.agentId &&
    snapshot.status === status &&
    snapshot.iteration === iteration &&
    (snapshot.runId ?? null) === agent.runId &&
    (snapshot.agentRole ?? null) === role &&
    (snapshot.lastError ?? null) === agent.lastError &&
    isSameUsage(snapshot.usage, agent.usage) &&
    snapshot.pendingToolCalls.length === agent.pending.size &&
    snapshot.pendingToolCalls.every((id) => agent.pending.has(id))
  );
}

function isSameUsage(one: AgentUsage, other: Usage): boolean {
  return (
    one.inputTokens === other.inputTokens &&
    one.outputTokens === other.outputTokens &&
    one.cacheReadTokens === other.cacheReadTokens &&
    one.cacheWriteTokens === other.cacheWriteTokens &&
    one.totalCost === other.costUsd
  );
}
