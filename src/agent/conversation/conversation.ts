import type { Clock } from '../../base/clock.ts';
import type { Message, ToolUseBlock } from '../../sessions/messages.ts';
import type { StoredSession, TranscriptEntry } from '../../sessions/session-store.ts';
import { createMessageNormalizer } from './normalize-messages.ts';

/**
 * The messages between the user, hooks, tools and the model: kept in memory and appended to the session
 * store.
 */
export interface Conversation {
  readonly messages: readonly Message[];
  /** A normalized copy of the messages for a model request; the caller may modify it. */
  toModelMessages(): readonly Message[];
  add(message: Message, more?: MessageDetails): void;
  /** Replaces all messages with a summary. */
  compact(summary: Message, facts: CompactionDetails): void;
  defer(call: ToolUseBlock): void;
  note(level: 'info' | 'error', text: string): void;
}

export interface MessageDetails {
  readonly toolUseResult?: unknown;
  /** Not written by the user: hook context or feedback. */
  readonly isMeta?: boolean;
  readonly model?: string;
  readonly usage?: Readonly<Record<string, number>>;
}

export interface CompactionDetails {
  readonly trigger: 'manual' | 'auto';
  readonly tokensBefore: number;
}

export interface ConversationOptions {
  /** Null when the session is not stored. */
  readonly store: StoredSession | null;
  /** The id of the sub-agent; null for the main agent. */
  readonly agentId: string | null;
  readonly clock: Clock;
  readonly cwd: () => string;
  readonly promptId: () => string | null;
}

export function createConversation(
  options: ConversationOptions,
  earlier: readonly Message[] = [],
): Conversation {
  let messages: Message[] = [...earlier];
  const safe = createMessageNormalizer();
  const append = (entry: EntryFields): void => {
    const { store, agentId, clock, cwd, promptId } = options;
    store?.append({
      ...entry,
      at: clock.now(),
      cwd: cwd(),
      promptId: promptId(),
      ...(agentId === null ? {} : { agentId }),
    });
  };
  return {
    get messages() {
      return messages;
    },
    toModelMessages: () => safe(messages),
    add(message, more = {}) {
      append({ type: 'message', message, ...more });
      messages.push(message);
    },
    compact(summary, facts) {
      append({ type: 'compaction', summary, ...facts });
      messages = [summary];
    },
    defer: (call) => append({ type: 'deferral', call }),
    note: (level, text) => append({ type: 'note', level, text }),
  };
}

type EntryFields = TranscriptEntry extends infer Entry
  ? Entry extends TranscriptEntry
    ? Omit<Entry, 'at' | 'cwd' | 'promptId' | 'agentId'>
    : never
  : never;
