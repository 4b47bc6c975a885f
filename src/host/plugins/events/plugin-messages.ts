import type { Usage } from '../../../agent/models/model.ts';
import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import type { AgentState } from '../../../agent/session-context.ts';
import {
  type CallResult,
  type MessageNote,
  type GetNote,
  createResultMessage,
  findGivenHead,
  recordMessage,
  recordNote,
  toPluginMessages,
} from '../../../plugins/messages/agent-messages.ts';
import {
  toSdkCall,
  toSdkResult,
  createSdkResult,
} from '../../../plugins/messages/sdk-tool-names.ts';
import type { AgentMessage, AgentMessageMetrics } from '../../../plugins/contract/message.ts';
import type { AssistantMessage, Message } from '../../../sessions/messages.ts';
import type { StandaloneAgent } from '../plugin-options.ts';

export interface ServingModel {
  readonly provider: string;
  readonly id: string;
}

type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;
type AnswerFacts = Pick<MessageNote, 'modelInfo' | 'metrics' | 'metadata'>;

/**
 * The conversation in the form that plugins get. Metadata of a message (time, model, results of its calls)
 * is recorded once, so that plugins get the same everywhere.
 */
export class PluginMessages {
  /** The model of the session's main agent; null before it is open. */
  readonly #model: () => ServingModel | null;
  /** Milliseconds since the epoch. */
  readonly #now: () => number;
  // Weak, because a message that a summary replaced is dropped with its note.
  readonly #notes = new WeakMap<Message, MessageNote>();
  /** Results of calls, until the message that contains them is recorded. */
  readonly #results = new Map<string, CallResult>();
  /** Of an agent without a session; its model gets its messages with all that is known of them. */
  readonly #standalone: StandaloneAgent | null;
  #count = 0;

  constructor(
    model: () => ServingModel | null,
    now: () => number,
    standalone: StandaloneAgent | null = null,
  ) {
    this.#model = model;
    this.#now = now;
    this.#standalone = standalone;
  }

  readonly getNote: GetNote = (message) => this.#notes.get(message) ?? this.#addNote(message, {});

  /** Records new messages of an agent's conversation since the last event, and returns them. */
  recordEvent(event: RuntimeEvent, agent: AgentState): readonly Message[] {
    if (event.type === 'tool-end') this.#results.set(event.callId, toCallResult(event));
    if (event.type === 'message-end') this.#addNotes([event.message], this.#describeAnswer(agent));
    const answer = event.type === 'turn-end' ? this.#describeAnswer(agent) : {};
    return this.#addNotes(agent.conversation.messages, answer);
  }

  /** Records an answer before hooks run: it is stored only when they do not change it. */
  recordAnswer(agent: AgentState, answer: AssistantMessage): MessageNote {
    this.#addNotes([answer], this.#describeAnswer(agent));
    return this.getNote(answer);
  }

  convertAll(messages: readonly Message[]): AgentMessage[] {
    return toPluginMessages(messages, this.getNote);
  }

  convert(message: Message): AgentMessage | null {
    return this.convertAll([message])[0] ?? null;
  }

  convertResult(event: ToolEnd): AgentMessage {
    const part = { type: 'tool-result', toolCallId: event.callId } as const;
    return createResultMessage({ ...part, ...toCallResult(event) }, this.#now());
  }

  /** Creates the note of the next message. */
  createNote(): MessageNote {
    return { id: `message-${this.#count}`, createdAt: this.#now() };
  }

  /** The model of an agent; null where it is unknown. */
  findModel({ facts }: AgentState): ServingModel | null {
    // A sub-agent may be served by another model than its session.
    const serving = facts.parentId === null ? this.#model() : null;
    return serving === null ? null : { provider: serving.provider, id: serving.id };
  }

  #describeAnswer(agent: AgentState): AnswerFacts {
    const model = this.#standalone?.messageModelInfo ?? this.findModel(agent);
    const { modelTools } = agent.turn;
    return {
      metrics: toMetrics(agent.lastUsage),
      ...(model === null ? {} : { modelInfo: model }),
      ...(modelTools.length === 0 ? {} : { metadata: { modelToolActivities: [...modelTools] } }),
    };
  }

  /** Records the new messages at the end, and returns them; `answer` describes those of the model. */
  #addNotes(messages: readonly Message[], answer: AnswerFacts): readonly Message[] {
    const lastNoted = messages.findLastIndex((message) => this.#notes.has(message));
    if (lastNoted === messages.length - 1) return NONE;
    const added = messages.slice(lastNoted + 1);
    for (const message of added) this.#addNote(message, answer);
    return added;
  }

  #addNote(message: Message, answer: AnswerFacts): MessageNote {
    const prompt = this.#standalone?.findPrompt(message) ?? null;
    if (prompt !== null) recordMessage(message.content, prompt);
    const facts = message.role === 'assistant' ? answer : this.#takeResults(message);
    const note = { ...this.createNote(), ...facts, ...findGivenHead(message) };
    if (this.#standalone !== null) recordNote(message, note);
    this.#notes.set(message, note);
    this.#count += 1;
    return note;
  }

  #takeResults({ content }: Message): Pick<MessageNote, 'results'> {
    const results = new Map<string, CallResult>();
    for (const block of content) {
      if (block.type !== 'tool_result') continue;
      const result = this.#results.get(block.tool_use_id);
      if (result === undefined) continue;
      results.set(block.tool_use_id, result);
      this.#results.delete(block.tool_use_id);
    }
    return results.size === 0 ? {} : { results };
  }
}

const NONE: readonly Message[] = [];

function toMetrics({ costUsd, ...tokens }: Usage): AgentMessageMetrics {
  return costUsd === undefined ? tokens : { ...tokens, cost: costUsd };
}

export function toCallResult({ tool, input, output }: ToolEnd): CallResult {
  const call = { name: tool, input };
  const { name: toolName } = toSdkCall(call);
  return output.replaced === true
    ? { toolName, ...createSdkResult(output.response, !output.success) }
    : { toolName, ...toSdkResult(call, output) };
}
