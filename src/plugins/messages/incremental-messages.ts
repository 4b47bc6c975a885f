import type { AgentMessage } from '../contract/message.ts';
import type { Message } from '../../sessions/messages.ts';
import { toAgentMessagesFrom, type GetNote } from './agent-messages.ts';

/** A conversation as plugins know it, of which only what is new is made anew. */
export type IncrementalMessages = (messages: readonly Message[]) => readonly AgentMessage[];

/** Gives the same list, longer, as long as the conversation only grows. */
export function createIncrementalMessages(getNote: GetNote): IncrementalMessages {
  let made = createEmpty();
  return (messages) => {
    if (!isContinued(messages, made)) made = createEmpty();
    const fresh = messages.slice(made.count);
    for (const { content } of fresh) {
      for (const block of content) {
        if (block.type === 'tool_use') made.names.set(block.id, block.name);
      }
    }
    const means = { names: made.names, getNote };
    for (const each of toAgentMessagesFrom(messages, made.count, means)) made.list.push(each);
    made.count = messages.length;
    made.first ??= messages[0] ?? null;
    made.last = messages.at(-1) ?? null;
    return made.list;
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

/** Messages are never changed, and a conversation that was summed up begins with another one. */
function isContinued(
  messages: readonly Message[],
  { count, first, last }: ConvertedMessages,
): boolean {
  if (count === 0) return true;
  return messages[0] === first && messages[count - 1] === last;
}
