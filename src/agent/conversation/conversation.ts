import type { Clock } from '../../base/clock.ts';
import type { Message, ToolUseBlock } from '../../sessions/messages.ts';
import type { StoredSession, TranscriptEntry } from '../../sessions/store.ts';
import { createMessageNormalizer } from './normalize-messages.ts';

/** What was said between a person, hooks, tools and a model: in memory, and on disk as it happens. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** The messages as a model may be shown them; whoever gets the list may change it. */
  toModelMessages(): readonly Message[];
  add(message: Message, more?: MessageDetails): void;
  /** Everything so far becomes its summary. */
  compact(summary: Message, facts: CompactionDetails): void;
  defer(call: ToolUseBlock): void;
  note(level: 'info' | 'error', text: string): void;
}

export interface MessageDetails {
  readonly toolUseResult?: unknown;
  /** Said by nobody: context of hooks, feedback. */
  readonly isMeta?: boolean;
  readonly model?: string;
  readonly usage?: Readonly<Record<string, number>>;
}

export interface CompactionDetails {
  readonly trigger: 'manual' | 'auto';
  readonly tokensBefore: number;
}

export interface ConversationPlace {
  /** Null when nothing is kept. */
  readonly store: StoredSession | null;
  /** The sub-agent whose conversation it is; null for the session's own. */
  readonly agentId: string | null;
  readonly clock: Clock;
  readonly cwd: () => string;
  readonly promptId: () => string | null;
}

export function createConversation(
  place: ConversationPlace,
  earlier: readonly Message[] = [],
): Conversation {
  let messages: Message[] = [...earlier];
  const safe = createMessageNormalizer();
  const append = (entry: EntryFacts): void => {
    const { store, agentId, clock, cwd, promptId } = place;
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

type EntryFacts = TranscriptEntry extends infer Entry
  ? Entry extends TranscriptEntry
    ? Omit<Entry, 'at' | 'cwd' | 'promptId' | 'agentId'>
    : never
  : never;
