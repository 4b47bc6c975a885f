import type { Clock } from '../../base/clock.ts';
import type { Message, ToolUseBlock } from '../../sessions/messages.ts';
import type { StoredSession, TranscriptEntry } from '../../sessions/session-store.ts';
import { createMessageNormalizer } from './normalize-messages.ts';

/**
 * The messages between the user, hooks, tools and the model: kept in memory and appended to the session
 * store.
 */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #normalize = createMessageNormalizer();
  #messages: Message[];

  constructor(options: ConversationOptions, earlier: readonly Message[] = []) {
    this.#options = options;
    this.#messages = [...earlier];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** A normalized copy of the messages for a model request; the caller may modify it. */
  toModelMessages(): readonly Message[] {
    return this.#normalize(this.#messages);
  }

  add(
    message: Message,
    details: {
      readonly toolUseResult?: unknown;
      /** Not written by the user: hook context or feedback. */
      readonly isMeta?: boolean;
      readonly model?: string;
      readonly usage?: Readonly<Record<string, number>>;
    } = {},
  ): void {
    this.#append({ type: 'message', message, ...details });
    this.#messages.push(message);
  }

  /** Replaces all messages with a summary. */
  compact(
    summary: Message,
    details: { readonly trigger: 'manual' | 'auto'; readonly tokensBefore: number },
  ): void {
    this.#append({ type: 'compaction', summary, ...details });
    this.#messages = [summary];
  }

  defer(call: ToolUseBlock): void {
    this.#append({ type: 'deferral', call });
  }

  note(level: 'info' | 'error', text: string): void {
    this.#append({ type: 'note', level, text });
  }

  #append(entry: EntryFields): void {
    const { store, agentId, clock, cwd, promptId } = this.#options;
    store?.append({
      ...entry,
      at: clock.now(),
      cwd: cwd(),
      promptId: promptId(),
      ...(agentId === null ? {} : { agentId }),
    });
  }
}

interface ConversationOptions {
  /** Null when the session is not stored. */
  readonly store: StoredSession | null;
  /** The id of the sub-agent; null for the main agent. */
  readonly agentId: string | null;
  readonly clock: Clock;
  readonly cwd: () => string;
  readonly promptId: () => string | null;
}

type EntryFields = TranscriptEntry extends infer Entry
  ? Entry extends TranscriptEntry
    ? Omit<Entry, 'at' | 'cwd' | 'promptId' | 'agentId'>
    : never
  : never;
