import type { Message, ToolUseBlock } from './messages.ts';
import type { StoredConversation } from './transcript/read-transcript.ts';

/** Stores sessions, one directory each, below the state directory. */
export interface SessionStore {
  /** Creates the session's directory. Throws SESSION_UNWRITABLE when that fails. */
  create(facts: SessionFacts): StoredSession;
  /** Throws SESSION_UNKNOWN when there is none. Unreadable parts are skipped and reported in `problems`. */
  resume(id: string): ResumedSession;
  /** Copies a session to another id and resumes the copy. */
  fork(id: string, newId: string): ResumedSession;
  /** The last used session of this start directory; null when there is none. */
  findLatest(startDirectory: string): string | null;
  list(): readonly SessionSummary[];
  /** Throws SESSION_UNKNOWN when there is none. */
  remove(id: string): void;
}

export interface SessionFacts {
  readonly id: string;
  readonly startDirectory: string;
  readonly workspaceRoots: readonly string[];
  readonly model: { readonly provider: string; readonly id: string };
  readonly permissionMode: string;
  readonly createdAt: number;
  readonly taskId: string;
  readonly ulid: string;
  /** The session that it was forked from. */
  readonly forkedFrom?: string;
}

/** A session that is being written. Whatever `append` returned from is on disk, also after `kill -9`. */
export interface StoredSession {
  readonly facts: SessionFacts;
  readonly directory: string;
  readonly transcriptPath: string;
  /** Returns the line's uuid. Throws SESSION_UNWRITABLE. */
  append(entry: TranscriptEntry): string;
  /** The path of a sub-agent's own transcript; its first entry creates the file. */
  agentTranscriptPath(agentId: string): string;
  rename(title: string): void;
  /** Releases the session for other processes. Synchronous: everything is written already. */
  close(): void;
}

/** An entry of a transcript, without the fields that every line has. */
export type TranscriptEntry = TranscriptPlace &
  (
    | {
        readonly type: 'message';
        readonly message: Message;
        /** The tool's structured answer, beside a `tool_result`. */
        readonly toolUseResult?: unknown;
        /** Not typed by the user: context of hooks, feedback. */
        readonly isMeta?: boolean;
        readonly model?: string;
        readonly usage?: Readonly<Record<string, number>>;
      }
    /** The conversation before it is summarized in the message that follows. */
    | {
        readonly type: 'compaction';
        readonly trigger: 'manual' | 'auto';
        readonly tokensBefore: number;
        readonly summary: Message;
      }
    /** The run ended with this call undecided; resuming calls the hooks again. */
    | { readonly type: 'deferral'; readonly call: ToolUseBlock }
    /** A note for the user: a failure of the model, an abort. */
    | { readonly type: 'note'; readonly level: 'info' | 'error'; readonly text: string }
  );

interface TranscriptPlace {
  readonly at: number;
  readonly cwd: string;
  readonly promptId: string | null;
  /** The sub-agent in whose own transcript it belongs; absent for the session's. */
  readonly agentId?: string;
}

export interface ResumedSession extends StoredSession, Omit<StoredConversation, 'cwd'> {
  readonly cwd: string;
  readonly title: string | null;
}

export interface SessionSummary {
  readonly id: string;
  readonly title: string | null;
  readonly firstPrompt: string;
  readonly startDirectory: string;
  readonly model: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly messageCount: number;
  /** Why it cannot be read completely; null when it can. */
  readonly problem: string | null;
}
