import type { RunResult } from '../../../agent/runtime-event.ts';
import { type AgentState, createAgentState } from '../../../agent/session-context.ts';
import { isTooLong } from '../../../agent/loop/compaction.ts';
import { NO_USAGE, type Usage } from '../../../agent/models/model.ts';
import { addUsage } from '../../../agent/models/prices.ts';
import { systemClock } from '../../../base/clock.ts';
import { dropUndefined } from '../../../base/defined.ts';
import { HooklineError } from '../../../base/errors.ts';
import {
  createIncrementalMessages,
  type IncrementalMessages,
  createAgentMessage,
  type MessageNote,
} from '../../../plugins/messages/agent-messages.ts';
import type { HookEvent } from '../../../hooks/facts.ts';
import type { AgentMessage } from '../../../plugins/contract/message.ts';
import type { Message } from '../../../sessions/messages.ts';
import type { AgentRunResult } from '../../../plugins/contract/runtime-hooks.ts';
import {
  type AgentRuntimeStateSnapshot,
  type AgentUsage,
  type ProviderErrorClass,
  isUntouched,
  defineMessages,
  shareMessages,
} from '../../../plugins/contract/snapshot.ts';
import type { StandaloneAgent } from '../plugin-options.ts';
import { PluginMessages, type ServingModel } from './plugin-messages.ts';

export interface SnapshotOptions {
  readonly sessionId: string;
  /** The session's main agent, and sub-agents while they run. */
  readonly agents: () => ReadonlyMap<string, AgentState>;
  /** The model of the session's main agent; null before it is open. */
  readonly model: () => ServingModel | null;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** The state of an agent at the time of an event, which may be earlier than its current state. */
type AgentMoment = Pick<AgentState, 'status'> & {
  readonly iteration: number;
  readonly role: string | null;
};

/** How far a conversation had come. The list only grows; a compacted conversation is another list. */
interface Extent {
  readonly messages: readonly Message[];
  readonly count: number;
  /** Results of the batch that runs. */
  readonly results: readonly AgentMessage[];
}

function isSameExtent(one: Extent, other: Extent): boolean {
  return (
    one.messages === other.messages &&
    one.count === other.count &&
    one.results.length === other.results.length
  );
}

/** Creates copies of agents' states for plugins, from the agent's current state. */
export class Snapshots {
  /** Conversations in the form that plugins get. */
  readonly messages: PluginMessages;
  readonly #options: SnapshotOptions;
  readonly #standalone: StandaloneAgent | null;
  readonly #converted = new WeakMap<AgentState['conversation'], IncrementalMessages>();
  /** Results that the agent adds to its conversation only with those of the whole batch. */
  readonly #results = new WeakMap<AgentState, Extent>();
  #last: { readonly snapshot: AgentRuntimeStateSnapshot; readonly extent: Extent } | null = null;

  constructor(options: SnapshotOptions, standalone: StandaloneAgent | null = null) {
    this.#options = options;
    this.#standalone = standalone;
    const now = options.now ?? (() => systemClock.now());
    this.messages = new PluginMessages(options.model, now, standalone);
  }

  /** An unknown id gets a new state, because an embedding program may fire an event for it. */
  findAgent(id: string, parentId: string | null = null): AgentState {
    const { agents, sessionId } = this.#options;
    const existing = agents().get(id);
    if (existing !== undefined) return existing;
    const own = parentId === null ? agents().get(sessionId) : undefined;
    return createAgentState({ id, parentId, type: null }, own?.conversation ?? { messages: [] });
  }

  take(
    agent: AgentState,
    at: AgentMoment = { status: agent.status, iteration: agent.turn.iteration, role: null },
  ): AgentRuntimeStateSnapshot {
    const moment = { ...at, role: at.role ?? this.#findRole(agent) };
    const usage = this.computeUsage(agent);
    const extent = this.#measure(agent);
    // Most events are text deltas, between which nothing changes.
    if (
      this.#last !== null &&
      isSameExtent(this.#last.extent, extent) &&
      isStill(this.#last.snapshot, agent, moment, usage)
    ) {
      return this.#last.snapshot;
    }
    const built = this.#build(agent, moment, usage);
    const snapshot = shareMessages(built, () => this.#convert(agent));
    this.#last = { snapshot, extent };
    return snapshot;
  }

  /** Adds the result of a call to the snapshots until it is in the conversation. */
  recordResult(agent: AgentState, result: AgentMessage): void {
    const { messages, count, results } = this.#measure(agent);
    this.#results.set(agent, { messages, count, results: [...results, result] });
  }

  #measure(agent: AgentState): Extent {
    const { messages } = agent.conversation;
    const pending = this.#results.get(agent);
    const isCurrent = pending?.messages === messages && pending.count === messages.length;
    return { messages, count: messages.length, results: isCurrent ? pending.results : [] };
  }

  takeAt(event: HookEvent): AgentRuntimeStateSnapshot {
    const { agent: facts, iteration } = event;
    const agent = this.findAgent(facts.id, facts.parentId);
    const moment = { status: agent.status, iteration, role: facts.type ?? this.#findRole(agent) };
    if (event.name === 'RunStart') {
      const snapshot = this.#build(agent, moment, this.computeUsage(agent));
      return withPrompt(snapshot, event.prompt, this.messages.createNote());
    }
    if (event.name !== 'RunEnd') return this.take(agent, moment);
    const { status, ending = status } = event;
    return this.take(agent, { ...moment, status: toPluginStatus({ status, ending }) });
  }

  /** The snapshot of the agent that made a call. */
  takeForCall(callId: string): AgentRuntimeStateSnapshot {
    const { agents, sessionId } = this.#options;
    const caller = [...agents().values()].find(({ pendingCalls }) => pendingCalls.has(callId));
    return this.take(caller ?? this.findAgent(sessionId));
  }

  createResult(
    agent: AgentState,
    {
      text,
      reason,
      ...run
    }: Pick<RunResult, 'status' | 'text' | 'reason'> & { readonly ending: string },
  ): AgentRunResult {
    const status = toPluginStatus(run);
    const agentRole = this.#findRole(agent) ?? undefined;
    const result: AgentRunResult = {
      agentId: agent.facts.id,
      ...dropUndefined({ agentRole }),
      runId: agent.runId ?? '',
      status,
      iterations: agent.turn.iteration,
      outputText: text,
      messages: this.messages.convertAll(agent.conversation.messages),
      usage: toAgentUsage(this.computeUsage(agent)),
      ...(reason === null ? {} : { stopReason: reason }),
      ...(status === 'failed' ? { error: createRunError(reason) } : {}),
    };
    return shareMessages(result, () => this.#convert(agent));
  }

  /** The usage of a run including its sub-agents, whose usage the agent adds to its own only when they end. */
  computeUsage({ facts, usage: own, costUsd }: AgentState): Usage {
    let usage = own;
    let cost = costUsd;
    const agents = this.#options.agents();
    // The common case: without sub-agents there is nothing to add.
    for (const each of agents.size > 1 ? agents.values() : []) {
      if (each.facts.parentId !== facts.id || each.usage === NO_USAGE) continue;
      usage = addUsage(usage, each.usage);
      cost = cost === null || each.costUsd === null ? null : cost + each.costUsd;
    }
    return usage === NO_USAGE || cost === null ? usage : { ...usage, costUsd: cost };
  }

  #build(agent: AgentState, moment: AgentMoment, usage: Usage): AgentRuntimeStateSnapshot {
    const { facts, runId, pendingCalls } = agent;
    const { status, iteration, role } = moment;
    const { messages, count, results } = this.#measure(agent);
    const snapshot: Omit<AgentRuntimeStateSnapshot, 'messages'> = {
      agentId: facts.id,
      parentAgentId: facts.parentId ?? this.#standalone?.parentAgentId ?? null,
      conversationId: this.#standalone?.conversationId ?? this.#options.sessionId,
      status,
      iteration,
      pendingToolCalls: [...pendingCalls.keys()],
      usage: toAgentUsage(usage),
    };
    const lastError = getLastError(agent, moment);
    const lastErrorClass = moment.status === 'failed' ? findFailureClass(agent) : undefined;
    if (runId !== null) snapshot.runId = runId;
    if (role !== null) snapshot.agentRole = role;
    if (lastError !== null) snapshot.lastError = lastError;
    if (lastErrorClass !== undefined) snapshot.lastErrorClass = lastErrorClass;
    // The conversation may have grown when a plugin reads what it kept.
    defineMessages(snapshot, () => [
      ...this.messages.convertAll(messages.slice(0, count)),
      ...results.map((result) => structuredClone(result)),
    ]);
    return snapshot;
  }

  /** The role that the program gave; sub-agents have one of their own. */
  #findRole({ facts }: AgentState): string | null {
    return facts.parentId === null ? (this.#standalone?.agentRole ?? null) : null;
  }

  #convert({ conversation }: AgentState): readonly AgentMessage[] {
    const cached = this.#converted.get(conversation);
    const convert = cached ?? createIncrementalMessages(this.messages.getNote);
    this.#converted.set(conversation, convert);
    return convert(conversation.messages);
  }
}

function createRunError(reason: string | null): Error {
  return new HooklineError('MODEL_FAILED', { message: reason ?? 'the run failed' });
}

/** A running agent has no error: the error belongs to the end of a run, or to an earlier run. */
function getLastError({ lastError }: AgentState, { status }: AgentMoment): string | null {
  return status === 'running' ? null : lastError;
}

/** Cline's class of the failure that ended a run; undefined when no model failed. */
export function findFailureClass({ lastFailure }: AgentState): ProviderErrorClass | undefined {
  if (lastFailure === null) return undefined;
  if (isTooLong(lastFailure)) return 'context_window_exceeded';
  return lastFailure.class === 'authentication_failed' ? 'auth' : 'unknown';
}

/** Plugins expect the prompt in the conversation when a run begins, but the agent adds it later. */
function withPrompt(
  snapshot: AgentRuntimeStateSnapshot,
  prompt: string,
  note: MessageNote,
): AgentRuntimeStateSnapshot {
  const { messages } = snapshot;
  const message = createAgentMessage('user', note, [{ type: 'text', text: prompt }]);
  return { ...snapshot, messages: [...messages, message] };
}

/** Cline's statuses: a hook that stops a run aborts it, and a run that exceeds its turns fails. */
export function toPluginStatus({
  status,
  ending,
}: {
  readonly status: RunResult['status'];
  readonly ending: string;
}): AgentRunResult['status'] {
  if (ending === 'stopped_by_hook' || ending === 'refused' || ending === 'loop') return 'aborted';
  return ending === 'max_turns' ? 'failed' : status;
}

export function toAgentUsage(usage: Usage): AgentUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd } = usage;
  const tokens = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  return costUsd === undefined ? tokens : { ...tokens, totalCost: costUsd };
}

/** Whether the snapshot is still current, and no plugin has read its messages or changed it. */
function isStill(
  snapshot: AgentRuntimeStateSnapshot,
  agent: AgentState,
  moment: AgentMoment,
  usage: Usage,
): boolean {
  const { facts, runId, pendingCalls } = agent;
  return (
    isUntouched(snapshot) &&
    snapshot.agentId === facts.id &&
    snapshot.status === moment.status &&
    snapshot.iteration === moment.iteration &&
    (snapshot.runId ?? null) === runId &&
    (snapshot.agentRole ?? null) === moment.role &&
    (snapshot.lastError ?? null) === getLastError(agent, moment) &&
    isSameUsage(snapshot.usage, usage) &&
    snapshot.pendingToolCalls.length === pendingCalls.size &&
    snapshot.pendingToolCalls.every((id) => pendingCalls.has(id))
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
