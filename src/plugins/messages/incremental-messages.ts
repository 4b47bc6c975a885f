import type { AgentMessage } from '../contract/message.ts';
import type { Message } from '../../sessions/messages.ts';
import { toAgentMessagesFrom, type GetNote } from './agent-messages.ts';

/** Converts a conversation for plugins; only new messages are converted. */
export type IncrementalMessages = (messages: readonly Message[]) => readonly AgentMessage[];

/** Returns the same list, extended, while the conversation only grows. */
export function createIncrementalMessages(getNote: GetNote): IncrementalMessages {
  let converted = createEmpty();
  return (messages) => {
    if (!isContinued(messages, converted)) converted = createEmpty();
    const fresh = messages.slice(converted.count);
    for (const { content } of fresh) {
      for (const block of content) {
        if (block.type === 'tool_use') converted.names.set(block.id, block.name);
      }
    }
    const context = { names: converted.names, getNote };
    for (const each of toAgentMessagesFrom(messages, converted.count, context)) {
      converted.list.push(each);
    }
    converted.count = messages.length;
    converted.first ??= messages[0] ?? null;
    converted.last = messages.at(-1) ?? null;
    return converted.list;
  };
}

interface ConvertedMessages {
  readonly list: AgentMessage[];
  readonly names: Map<string, string>;
  count: number;
  first: Message | null;
  last: Message | null;
}

function createEmpty(): ConvertedMessages {
  return { list: [], names: new Map(), count: 0, first: null, last: null };
}

/**
 * Comparing the first and last message is enough: messages are immutable, and a compacted
 * conversation starts with another one.
 */
function isContinued(
  messages: readonly Message[],
  { count, first, last }: ConvertedMessages,
): boolean {
  if (count === 0) return true;
  return messages[0] === first && messages[count - 1] === last;
}
