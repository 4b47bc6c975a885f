import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { addUsage } from '../../../agent/models/prices.ts';
import { NO_USAGE, type Usage } from '../../../agent/models/model.ts';
import type { Message, ToolResultBlock } from '../../../sessions/messages.ts';

/** What is known of one agent from what it tells of itself. */
export interface AgentState {
  readonly agentId: string;
  readonly parentAgentId: string | null;
  runId: string | null;
  status: 'idle' | 'running' | 'completed' | 'aborted' | 'failed';
  iteration: number;
  usage: Usage;
  /** What its last answer took. */
  lastUsage: Usage;
  /** Its calls that have not ended, by their ids. */
  readonly pending: Map<string, PendingCall>;
  /** Of this turn. */
  text: string;
  thinking: string;
  calls: number;
  finishReason: string;
  lastError: string | null;
  /** What a sub-agent said; the session's own has its messages elsewhere. */
  readonly said: Message[];
}

/** A call as it was made. */
export interface PendingCall {
  readonly tool: string;
  readonly input: unknown;
}

/** The agents of one session as plugins are told of them. */
export interface AgentStates {
  agent(agentId: string, parentAgentId?: string | null): AgentState;
  apply(event: RuntimeEvent): void;
  /** Whose call it is that has not ended; null when nobody's. */
  ofCall(callId: string): AgentState | null;
}

export function createAgentStates(): AgentStates {
  const agents = new Map<string, AgentState>();
  const agent: AgentStates['agent'] = (agentId, parentAgentId = null) => {
    const known = agents.get(agentId);
    if (known !== undefined) return known;
    const made = createAgentState(agentId, parentAgentId);
    agents.set(agentId, made);
    return made;
  };
  return {
    agent,
    ofCall: (callId) => [...agents.values()].find(({ pending }) => pending.has(callId)) ?? null,
    apply(event) {
      const heard = agent(event.agentId, event.parentAgentId);
      applyEvent(heard, event);
      if (event.type !== 'turn-end') return;
      // What a sub-agent takes, whoever started it takes.
      for (let by = parentOf(heard); by !== null; by = parentOf(by)) {
        by.usage = addSpent(by.usage, event.usage);
      }
    },
  };

  function parentOf({ parentAgentId }: AgentState): AgentState | null {
    return parentAgentId === null ? null : (agents.get(parentAgentId) ?? null);
  }
}

function createAgentState(agentId: string, parentAgentId: string | null): AgentState {
  return {
    agentId,
    parentAgentId,
    runId: null,
    status: parentAgentId === null ? 'idle' : 'running',
    iteration: 0,
    usage: NO_USAGE,
    lastUsage: NO_USAGE,
    pending: new Map(),
    text: '',
    thinking: '',
    calls: 0,
    finishReason: 'stop',
    lastError: null,
    said: [],
  };
}

function applyEvent(agent: AgentState, event: RuntimeEvent): void {
  switch (event.type) {
    case 'run-start':
      Object.assign(agent, {
        runId: event.runId,
        status: 'running',
        iteration: 0,
        usage: NO_USAGE,
      });
      agent.lastError = null;
      return;
    case 'turn-start':
      Object.assign(agent, { iteration: event.iteration, text: '', thinking: '', calls: 0 });
      return;
    case 'turn-end':
      agent.usage = addSpent(agent.usage, event.usage);
      agent.lastUsage = event.usage;
      agent.finishReason = event.finishReason;
      return;
    case 'text-delta':
      agent.text += event.text;
      return;
    case 'thinking-delta':
      agent.thinking += event.text;
      return;
    case 'retry-start':
      if (event.discardsOutput) Object.assign(agent, { text: '', thinking: '' });
      return;
    case 'message-end':
      if (agent.parentAgentId !== null) agent.said.push(event.message);
      return;
    case 'tool-start':
      agent.pending.set(event.callId, { tool: event.tool, input: event.input });
      agent.calls += 1;
      return;
    case 'tool-end':
      agent.pending.delete(event.callId);
      if (agent.parentAgentId !== null) agent.said.push(toResultMessage(event));
      return;
    case 'run-end':
      agent.status = event.result.status;
      agent.lastError = event.result.reason;
      break;
    default:
  }
}

/** What a run costs is known as long as it is known of each of its answers. */
function addSpent(before: Usage, answer: Usage): Usage {
  const tokens = addUsage(before, answer);
  const spent = before === NO_USAGE ? 0 : before.costUsd;
  if (spent === undefined || answer.costUsd === undefined) return tokens;
  return { ...tokens, costUsd: spent + answer.costUsd };
}

export type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

function toResultMessage({ callId, output }: ToolEnd): Message {
  const content = output.success ? output.text : (output.error ?? output.text);
  const block: ToolResultBlock = { type: 'tool_result', tool_use_id: callId, content };
  return { role: 'user', content: [output.success ? block : { ...block, is_error: true }] };
}
