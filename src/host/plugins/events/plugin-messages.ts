import type { Usage } from '../../../agent/models/model.ts';
import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import {
  type CallResult,
  type MessageNote,
  type GetNote,
  createResultMessage,
  toPluginMessages,
} from '../../../plugins/messages/agent-messages.ts';
import {
  toSdkCall,
  toSdkResult,
  createSdkResult,
} from '../../../plugins/messages/sdk-tool-names.ts';
import type { HookEvent } from '../../../hooks/facts.ts';
import type { AgentMessage, AgentMessageMetrics } from '../../../plugins/contract/message.ts';
import type { AssistantMessage, Message } from '../../../sessions/messages.ts';
import type { AgentStates, AgentState, ToolEnd } from './agent-state.ts';

export interface ToldMeans {
  readonly mirror: AgentStates;
  /** What was said in the session so far. */
  readonly messages: () => readonly Message[];
  /** Which model answers the session's own agent; null before it is open. */
  readonly model: () => ServingModel | null;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface ServingModel {
  readonly provider: string;
  readonly id: string;
}

/** What was said, as plugins are told it: the same of a message wherever they meet it. */
export interface ToldMessages {
  readonly noteOf: GetNote;
  /** Makes notes of what was said since the event before, and gives it; before the mirror hears of it. */
  see(event: RuntimeEvent): readonly Message[];
  all(messages: readonly Message[]): AgentMessage[];
  one(message: Message): AgentMessage | null;
  /** What a call came to. */
  result(event: ToolEnd): AgentMessage;
  noteOfAnswer(event: HookEvent, answer: AssistantMessage): MessageNote;
  /** What the next message will be known by. */
  next(): MessageNote;
  /** Who answers an agent; null where that is not known. */
  modelOf(agent: AgentState): ServingModel | null;
}

export function createToldMessages({ mirror, messages, model, now }: ToldMeans): ToldMessages {
  const notes = createMessageNotes(now);
  const noteOf: GetNote = (message) => notes.of(message);
  const modelOf: ToldMessages['modelOf'] = ({ parentAgentId }) => {
    // A sub-agent may be served by another model than its session.
    const serving = parentAgentId === null ? model() : null;
    return serving === null ? null : { provider: serving.provider, id: serving.id };
  };
  return {
    noteOf,
    see(event) {
      const agent = mirror.agent(event.agentId, event.parentAgentId);
      const facts = (usage: Usage): AnswerFacts => answerFacts(usage, modelOf(agent));
      if (event.type === 'tool-end') notes.keep(event.callId, toCallResult(event));
      // What a sub-agent says is not kept before it is told of.
      if (event.type === 'message-end') notes.see([event.message], facts(agent.lastUsage));
      const said = agent.parentAgentId === null ? messages() : agent.said;
      return notes.see(said, event.type === 'turn-end' ? facts(event.usage) : {});
    },
    all: (said) => toPluginMessages(said, noteOf),
    one: (message) => toPluginMessages([message], noteOf)[0] ?? null,
    result(event) {
      const part = {
        type: 'tool-result',
        toolCallId: event.callId,
        ...toCallResult(event),
      } as const;
      return createResultMessage(part, now());
    },
    noteOfAnswer({ agent: { id, parentId } }, answer) {
      const agent = mirror.agent(id, parentId);
      // It is kept only when hooks have left it as it is.
      notes.see([answer], answerFacts(agent.lastUsage, modelOf(agent)));
      return notes.of(answer);
    },
    next: () => notes.next(),
    modelOf,
  };
}

function toMetrics({ costUsd, ...tokens }: Usage): AgentMessageMetrics {
  return costUsd === undefined ? tokens : { ...tokens, cost: costUsd };
}

function answerFacts(usage: Usage, model: ServingModel | null): AnswerFacts {
  const metrics = toMetrics(usage);
  return model === null ? { metrics } : { metrics, modelInfo: { ...model } };
}

export function toCallResult({ tool, input, output }: ToolEnd): CallResult {
  const call = { name: tool, input };
  const { name: toolName } = toSdkCall(call);
  return output.replaced === true
    ? { toolName, ...createSdkResult(output.response, !output.success) }
    : { toolName, ...toSdkResult(call, output) };
}

/** What is known of messages beyond their words: when they were said, by whom, and what calls came to. */
interface MessageNotes {
  of(message: Message): MessageNote;
  /** Makes notes of those at the end that are new, and gives them; `answer` is what is known of the model's. */
  see(messages: readonly Message[], answer?: AnswerFacts): readonly Message[];
  /** Keeps what a call came to until the message is seen that says so. */
  keep(callId: string, result: CallResult): void;
  /** What the next message will be known by. */
  next(): MessageNote;
}

type AnswerFacts = Pick<MessageNote, 'modelInfo' | 'metrics'>;

function createMessageNotes(now: () => number): MessageNotes {
  // Whoever forgets a message, as a summary does, forgets what was noted of it.
  const notes = new WeakMap<Message, MessageNote>();
  const results = new Map<string, CallResult>();
  let count = 0;
  const next = (): MessageNote => ({ id: `message-${count}`, createdAt: now() });
  const note = (message: Message, answer: AnswerFacts = {}): MessageNote => {
    const said = message.role === 'assistant' ? answer : takeResults(message, results);
    const made = { ...next(), ...said };
    notes.set(message, made);
    count += 1;
    return made;
  };
  return {
    of: (message) => notes.get(message) ?? note(message),
    see(messages, answer) {
      const known = messages.findLastIndex((message) => notes.has(message));
      if (known === messages.length - 1) return NONE;
      const fresh = messages.slice(known + 1);
      for (const message of fresh) note(message, answer);
      return fresh;
    },
    keep: (callId, result) => void results.set(callId, result),
    next,
  };
}

const NONE: readonly Message[] = [];

function takeResults(
  { content }: Message,
  kept: Map<string, CallResult>,
): Pick<MessageNote, 'results'> {
  const taken = new Map<string, CallResult>();
  for (const block of content) {
    const result = block.type === 'tool_result' ? kept.get(block.tool_use_id) : undefined;
    if (block.type !== 'tool_result' || result === undefined) continue;
    taken.set(block.tool_use_id, result);
    kept.delete(block.tool_use_id);
  }
  return taken.size === 0 ? {} : { results: taken };
}
