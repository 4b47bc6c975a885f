import type { CallResult, MessageNote } from '../../../plugins/messages/agent-messages.ts';
import type { Message } from '../../../sessions/messages.ts';

/** What is known of messages beyond their words: when they were said, by whom, and what calls came to. */
export interface MessageNotes {
  of(message: Message): MessageNote;
  /** Makes notes of those at the end that are new, and gives them; `answer` is what is known of the model's. */
  see(messages: readonly Message[], answer?: AnswerFacts): readonly Message[];
  /** Keeps what a call came to until the message is seen that says so. */
  keep(callId: string, result: CallResult): void;
  /** What the next message will be known by. */
  next(): MessageNote;
}

export type AnswerFacts = Pick<MessageNote, 'modelInfo' | 'metrics'>;

export function createMessageNotes(now: () => number): MessageNotes {
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
