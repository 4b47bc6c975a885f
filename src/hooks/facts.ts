import type { ToolResult } from './faces/faces.ts';

/** What every event carries about the session it happens in. */
export interface Moment {
  readonly sessionId: string;
  /** The task (conversation) that hooks see; the session id unless the host keeps them apart. */
  readonly taskId: string;
  /** A sortable id of the task, as Cline's classic hooks expect it. */
  readonly ulid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The session's current directory, absolute. */
  readonly cwd: string;
  /** Absolute workspace roots, the primary one first; may be empty. */
  readonly workspaceRoots: readonly string[];
  readonly permissionMode: string;
  readonly model: { readonly provider: string; readonly id: string };
  readonly agent: AgentFacts;
  /** Number of the model request within the run, from 1; 0 before the first. */
  readonly iteration: number;
  readonly userId: string;
  /** Version of the host. */
  readonly version: string;
  readonly transcriptPath: string | null;
  readonly promptId: string | null;
}

export interface AgentFacts {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string | null;
}

/** A tool call as the model made it, under whichever of the tool's names it used. */
export interface CallFacts {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

interface ToolFacts {
  readonly tool: CallFacts;
}

interface FinishedToolFacts extends ToolFacts {
  readonly result: ToolResult;
  readonly durationMs: number;
}

export interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

export interface CompactionFacts {
  readonly trigger: 'manual' | 'auto';
  readonly strategy?: string;
  readonly instructions?: string | null;
  readonly messageCount?: number;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly tokensInCache?: number;
  readonly tokensOutCache?: number;
  readonly deletedRange?: readonly [number, number];
  readonly previousRequestIndex?: number;
  readonly contextJsonPath?: string;
  readonly contextRawPath?: string;
}

interface ModelSwitchFacts {
  readonly fromModel: string;
  readonly toModel: string;
  readonly requestedModel: string | null;
  readonly source: string;
}

interface TaskItemFacts {
  readonly itemId: string;
  readonly subject: string;
  readonly description?: string;
}

/** What each event carries beyond the moment. Facts are plain data, so that they can be stored and replayed. */
export interface EventFacts {
  SessionStart: { readonly source: 'startup' | 'resume' | 'clear' | 'compact' | 'fork' };
  Setup: { readonly trigger: 'init' | 'maintenance' };
  SessionEnd: { readonly reason: string };
  TaskStart: { readonly prompt: string };
  TaskResume: {
    readonly prompt: string;
    readonly lastMessageAt: number | null;
    readonly messageCount: number;
    readonly historyDeleted: boolean;
  };
  UserPromptSubmit: { readonly prompt: string; readonly attachments?: readonly string[] };
  UserPromptExpansion: {
    readonly prompt: string;
    readonly command: string;
    readonly commandArguments: string;
  };
  RunStart: { readonly prompt: string };
  ModelRequest: { readonly request: unknown };
  ModelResponse: { readonly response: unknown; readonly finishReason: string };
  PreToolUse: ToolFacts;
  PermissionRequest: ToolFacts & { readonly suggestions?: readonly unknown[] };
  PermissionDenied: ToolFacts & { readonly reason: string };
  PostToolUse: FinishedToolFacts;
  PostToolUseFailure: FinishedToolFacts & { readonly denied?: boolean };
  PostToolBatch: { readonly calls: readonly CallFacts[] };
  PreCompact: CompactionFacts;
  PostCompact: { readonly trigger: 'manual' | 'auto'; readonly summary: string };
  SubagentStart: { readonly agentType: string };
  SubagentStop: { readonly agentType: string; readonly lastText: string; readonly again: boolean };
  Stop: { readonly lastText: string; readonly again: boolean };
  TaskComplete: { readonly result: string; readonly command?: string };
  RunEnd: {
    readonly status: 'completed' | 'aborted' | 'failed';
    readonly reason?: string;
    readonly error?: ErrorFacts;
    /** Why the model's service refused, in Claude's words (`rate_limit`, `overloaded` …). */
    readonly errorClass?: string;
    readonly lastText?: string;
  };
  Notification: {
    readonly type: string;
    readonly message: string;
    readonly source?: string;
    readonly waiting?: boolean;
  };
  MessageDisplay: { readonly text: string; readonly messageId: string };
  PreModelSwitch: ModelSwitchFacts;
  PostModelSwitch: ModelSwitchFacts;
  TaskCreated: TaskItemFacts;
  TaskCompleted: TaskItemFacts;
  TeammateIdle: { readonly teammate: string };
  Elicitation: { readonly server: string; readonly message: string; readonly schema?: unknown };
  ElicitationResult: {
    readonly server: string;
    readonly action: string;
    readonly content?: unknown;
  };
  ConfigChange: { readonly source: string; readonly file: string };
  InstructionsLoaded: { readonly file: string; readonly loadReason: string };
  CwdChanged: { readonly from: string; readonly to: string };
  DirectoryAdded: { readonly directory: string; readonly source: string };
  FileChanged: { readonly file: string; readonly change: 'change' | 'add' | 'unlink' };
  WorktreeCreate: { readonly worktree: string };
  WorktreeRemove: { readonly path: string };
}

export type EventName = keyof EventFacts;

/** A named moment with its facts. */
export type HookEvent<Name extends EventName = EventName> = {
  [Each in Name]: Moment & { readonly name: Each } & EventFacts[Each];
}[Name];

/** What a caller hands to `dispatch`: the facts; what is missing of the moment, the session supplies. */
export type FiredEvent<Name extends EventName = EventName> = {
  [Each in Name]: Partial<Moment> & { readonly name: Each } & EventFacts[Each];
}[Name];

/** The tool call that an event is about, or null. */
export function callOf(event: HookEvent): CallFacts | null {
  return 'tool' in event ? event.tool : null;
}

/** The event as if the tool had answered this; it is for the whole call, so its parts no longer hold. */
export function withOutput<Event extends FinishedToolFacts>(event: Event, output: unknown): Event {
  const { parts: _parts, ...result } = event.result;
  const isText = typeof output === 'string';
  const text = isText ? output : (JSON.stringify(output) ?? '');
  return { ...event, result: { ...result, response: isText ? undefined : output, text } };
}
