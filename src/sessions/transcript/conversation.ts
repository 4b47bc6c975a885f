import type { AssistantMessage, Message, ToolUseBlock } from '../messages.ts';
import { createProblemList, readTranscript } from './read-transcript.ts';
import type { StoredLine, StoredMessage } from './stored-line.ts';

/** What a session goes on from. */
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
  const told = createFold();
  for (const line of readTranscript(transcript, problems.tell)) told.add(line);
  return { ...told.result(), problems: problems.list() };
}

/** How many messages a transcript holds from a byte on; what cannot be read does not count. */
export function countMessages(transcript: string, fromByte: number): number {
  const told = createFold();
  for (const line of readTranscript(transcript, () => undefined, fromByte)) told.add(line);
  return told.result().messageCount;
}

interface Fold {
  add(line: StoredLine): void;
  result(): Omit<StoredConversation, 'problems'>;
}

function createFold(): Fold {
  let messages: Message[] = [];
  let lastId: string | null = null;
  const rest: Rest = {
    messageCount: 0,
    cwd: null,
    lastMessageAt: null,
    deferred: null,
    contextTokens: 0,
  };
  const addMessage = ({ message, messageId, isSummary, tokens }: StoredMessage): void => {
    // Not at the boundary before it: of a process that was killed there, only that may be left.
    if (isSummary) messages = [];
    const isMore = messageId !== null && messageId === lastId;
    const merged = isMore ? continued(messages.at(-1), message) : null;
    if (merged === null) {
      messages.push(message);
      rest.messageCount += 1;
    } else messages[messages.length - 1] = merged;
    lastId = messageId;
    rest.contextTokens = isSummary ? 0 : (tokens ?? rest.contextTokens);
  };
  return {
    add(line) {
      // Older versions of Claude wrote what sub-agents said into the same file.
      if (line.isSidechain) return;
      rest.cwd = line.cwd ?? rest.cwd;
      if (line.type === 'deferral') rest.deferred = line.call;
      if (line.type !== 'message') return;
      addMessage(line);
      rest.deferred = null;
      rest.lastMessageAt = line.at ?? rest.lastMessageAt;
    },
    result: () => ({ messages, ...rest }),
  };
}

type Rest = {
  -readonly [
    Key in Exclude<keyof StoredConversation, 'messages' | 'problems'>
  ]: StoredConversation[Key];
};

/** Claude writes a line for each block of an answer. */
function continued(previous: Message | undefined, message: Message): AssistantMessage | null {
  if (previous?.role !== 'assistant' || message.role !== 'assistant') return null;
  return { role: 'assistant', content: [...previous.content, ...message.content] };
}
