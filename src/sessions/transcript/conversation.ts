import type { AssistantMessage, Message, ToolUseBlock } from '../messages.ts';
import { createProblemList, readTranscript } from './read-transcript.ts';
import type { StoredLine, StoredMessage } from './stored-line.ts';

/** The state that a resumed session starts from. */
export interface StoredConversation {
  /** Since the last compaction, its summary first. */
  readonly messages: readonly Message[];
  /** Of the whole transcript. */
  readonly messageCount: number;
  readonly cwd: string | null;
  readonly lastMessageAt: number | null;
  readonly deferred: ToolUseBlock | null;
  readonly contextTokens: number;
  readonly problems: readonly string[];
}

/** Throws when the file itself cannot be read. */
export function readConversation(transcript: string): StoredConversation {
  const problems = createProblemList();
  const conversation = createConversationBuilder();
  for (const line of readTranscript(transcript, problems.report)) conversation.add(line);
  return { ...conversation.result(), problems: problems.list() };
}

/** How many messages a transcript holds from a byte on; what cannot be read does not count. */
export function countMessages(transcript: string, fromByte: number): number {
  const conversation = createConversationBuilder();
  for (const line of readTranscript(transcript, () => undefined, fromByte)) conversation.add(line);
  return conversation.result().messageCount;
}

interface ConversationBuilder {
  add(line: StoredLine): void;
  result(): Omit<StoredConversation, 'problems'>;
}

function createConversationBuilder(): ConversationBuilder {
  let messages: Message[] = [];
  let lastId: string | null = null;
  const fields: ConversationFields = {
    messageCount: 0,
    cwd: null,
    lastMessageAt: null,
    deferred: null,
    contextTokens: 0,
  };
  const addMessage = ({ message, messageId, isSummary, tokens }: StoredMessage): void => {
    // Not at the boundary before it: a killed process may have written only the boundary.
    if (isSummary) messages = [];
    const isSameAnswer = messageId !== null && messageId === lastId;
    const merged = isSameAnswer ? appendBlocks(messages.at(-1), message) : null;
    if (merged === null) {
      messages.push(message);
      fields.messageCount += 1;
    } else messages[messages.length - 1] = merged;
    lastId = messageId;
    fields.contextTokens = isSummary ? 0 : (tokens ?? fields.contextTokens);
  };
  return {
    add(line) {
      // Older versions of Claude Code wrote messages of sub-agents into the same file.
      if (line.isSidechain) return;
      fields.cwd = line.cwd ?? fields.cwd;
      if (line.type === 'deferral') fields.deferred = line.call;
      if (line.type !== 'message') return;
      addMessage(line);
      fields.deferred = null;
      fields.lastMessageAt = line.at ?? fields.lastMessageAt;
    },
    result: () => ({ messages, ...fields }),
  };
}

type ConversationFields = {
  -readonly [
    Key in Exclude<keyof StoredConversation, 'messages' | 'problems'>
  ]: StoredConversation[Key];
};

/** Claude Code writes a line for each block of an answer. */
function appendBlocks(previous: Message | undefined, message: Message): AssistantMessage | null {
  if (previous?.role !== 'assistant' || message.role !== 'assistant') return null;
  return { role: 'assistant', content: [...previous.content, ...message.content] };
}
