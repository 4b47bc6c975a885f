import type { Changes } from './decision.ts';
import type { AgentVocabulary, SharedInput, ToolResult } from '../tool-vocabularies/tool-views.ts';

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
  /** Where the session was started, absolute; stays when the current directory moves on. */
  readonly startDirectory?: string;
  /** Absolute workspace roots, the primary one first; may be empty. */
  readonly workspaceRoots: readonly string[];
  readonly permissionMode: string;
  readonly model: { readonly provider: string; readonly id: string };
  /** The reasoning effort of the model (`low`, `high` …), where it supports one. */
  readonly effort?: string;
  readonly agent: AgentFacts;
  /** Number of the model request within the run, from 1; 0 before the first. */
  readonly iteration: number;
  readonly userId: string;
  /** Version of the host. */
  readonly version: string;
  readonly transcriptPath: string | null;
  readonly promptId: string | null;
  /** Skills and slash commands that were used in this session: from then on their hooks count. */
  readonly skills?: readonly string[];
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
  /** Set when another agent made the call: the vocabulary in which its name and input are written. */
  readonly vocabulary?: AgentVocabulary;
}

/** A call of a finished turn, with its result for the model: text or content blocks. */
export interface AnsweredCallFacts extends CallFacts {
  readonly answer?: unknown;
  /** One for each part of a call that did several things. */
  readonly answers?: readonly unknown[];
}

export interface McpServerFacts {
  readonly name: string;
  /** Who configured it: `user`, `project`, `plugin` … */
  readonly source: string;
}

interface ToolFacts {
  readonly tool: CallFacts;
  /** For handlers with `isHanded`. */
  readonly handed?: SharedInput;
  /** The server that the tool belongs to. */
  readonly mcpServer?: McpServerFacts;
}

interface FinishedToolFacts extends ToolFacts {
  readonly result: ToolResult;
  /** What an earlier handler in order put in place of the result, and whether that is a failure. */
  readonly replaced?: { readonly output: unknown; readonly failed: boolean };
  readonly durationMs: number;
}

export interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

interface ModelSwitchFacts {
  readonly fromModel: string;
  readonly toModel: string;
  readonly requestedModel: string | null;
  readonly source: string;
  readonly contextTokens?: number;
  readonly isCacheWarm?: boolean;
  /** How long the model's service keeps the cached prompt: `5m`, `1h`. */
  readonly cacheLifetime?: string;
  readonly cacheWriteUsd?: number;
  /** Where the price comes from: `configured`, `catalog`, `default`. */
  readonly pricing?: string;
}

/** What continues after the agent's answer: a command, a sub-agent, a call of an MCP server. */
export interface BackgroundTaskFacts {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly description: string;
  readonly command?: string;
  readonly agentType?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly name?: string;
}

/** A prompt that the session sends itself at set times. */
export interface ScheduledPromptFacts {
  readonly id: string;
  /** In the form of crontab. */
  readonly schedule: string;
  readonly recurring: boolean;
  readonly prompt: string;
}

interface StopFacts {
  readonly lastText: string;
  /** Whether the agent continues only because a hook did not let it finish before. */
  readonly again: boolean;
  readonly backgroundTasks?: readonly BackgroundTaskFacts[];
  readonly scheduledPrompts?: readonly ScheduledPromptFacts[];
}

interface TaskItemFacts {
  readonly itemId: string;
  readonly subject: string;
  readonly description?: string;
  readonly teammate?: string;
  readonly team?: string;
}

interface ElicitationFacts {
  readonly server: string;
  readonly mode?: 'form' | 'url';
  readonly elicitationId?: string;
}

/** What each event carries beyond the moment. Facts are plain data, so that they can be stored and replayed. */
export interface EventFacts {
  SessionStart: {
    readonly source: 'startup' | 'resume' | 'clear' | 'compact' | 'fork';
    readonly title?: string;
    /** Of a resumed or forked session, as the further ones. */
    readonly secondsSinceLastResponse?: number;
    readonly contextTokens?: number;
    readonly isCacheLikelyExpired?: boolean;
    readonly cacheWriteUsd?: number;
  };
  Setup: { readonly trigger: 'init' | 'maintenance' };
  SessionEnd: { readonly reason: string };
  TaskStart: { readonly prompt: string };
  TaskResume: {
    readonly prompt: string;
    readonly lastMessageAt: number | null;
    readonly messageCount: number;
    readonly historyDeleted: boolean;
  };
  UserPromptSubmit: {
    readonly prompt: string;
    readonly attachments?: readonly string[];
    /** Who sent it: `user`, `sdk`, `system` … */
    readonly source?: string;
    readonly title?: string;
  };
  UserPromptExpansion: {
    readonly prompt: string;
    readonly command: string;
    readonly commandArguments: string;
    readonly kind?: 'slash_command' | 'mcp_prompt';
    /** Where the command is defined: `projectSettings`, `plugin` … */
    readonly commandSource?: string;
  };
  RunStart: { readonly prompt: string };
  ModelRequest: { readonly request: unknown };
  ModelResponse: { readonly response: unknown; readonly finishReason: string };
  PreToolUse: ToolFacts;
  PermissionRequest: ToolFacts & { readonly suggestions?: readonly unknown[] };
  PermissionDenied: ToolFacts & { readonly reason: string };
  PostToolUse: FinishedToolFacts;
  PostToolUseFailure: FinishedToolFacts & {
    readonly denied?: boolean;
    /** Whether the user interrupted it. */
    readonly interrupted?: boolean;
  };
  PostToolBatch: { readonly calls: readonly AnsweredCallFacts[] };
  PreCompact: {
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
  };
  PostCompact: { readonly trigger: 'manual' | 'auto'; readonly summary: string };
  SubagentStart: { readonly agentType: string };
  SubagentStop: StopFacts & { readonly agentType: string; readonly agentTranscriptPath?: string };
  Stop: StopFacts;
  TaskComplete: { readonly result: string; readonly command?: string };
  RunEnd: {
    readonly status: 'completed' | 'aborted' | 'failed';
    readonly reason?: string;
    readonly error?: ErrorFacts;
    /** Why the model's service refused, in Claude's words (`rate_limit`, `overloaded` …). */
    readonly errorClass?: string;
    readonly errorDetails?: string;
    readonly lastText?: string;
    /** Why it ended, in Hookline's words: `done`, `stopped_by_hook`, `max_turns` … */
    readonly ending?: string;
  };
  Notification: {
    /** In Claude's words; `task_complete` of Cline is none of them. */
    readonly type: string;
    readonly message: string;
    readonly title?: string;
    readonly source?: string;
    readonly waiting?: boolean;
  };
  MessageDisplay: {
    readonly text: string;
    readonly messageId: string;
    readonly turnId?: string;
    /** Number of this piece of the message, from 0. */
    readonly index?: number;
    /** Whether the message ends with this piece. */
    readonly isFinal?: boolean;
  };
  PreModelSwitch: ModelSwitchFacts;
  PostModelSwitch: ModelSwitchFacts;
  TaskCreated: TaskItemFacts;
  TaskCompleted: TaskItemFacts;
  TeammateIdle: { readonly teammate: string; readonly team?: string };
  Elicitation: ElicitationFacts & {
    readonly message: string;
    readonly schema?: unknown;
    /** The page that the user is asked to open. */
    readonly url?: string;
  };
  ElicitationResult: ElicitationFacts & { readonly action: string; readonly content?: unknown };
  ConfigChange: { readonly source: string; readonly file: string };
  InstructionsLoaded: {
    readonly file: string;
    readonly loadReason: string;
    /** Whose instructions they are. */
    readonly memoryType?: 'User' | 'Project' | 'Local' | 'Managed';
    /** The patterns for which they count. */
    readonly globs?: readonly string[];
    /** The file whose use loaded them. */
    readonly triggerFile?: string;
    /** The file that includes them. */
    readonly parentFile?: string;
  };
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

/** The argument of `dispatch`: the facts; the session supplies missing fields of the moment. */
export type FiredEvent<Name extends EventName = EventName> = {
  [Each in Name]: Partial<Moment> & { readonly name: Each } & EventFacts[Each];
}[Name];

/** The tool call that an event is about, or null. */
export function getToolCall(event: HookEvent): CallFacts | null {
  return 'tool' in event ? event.tool : null;
}

/** The event as if the tool had answered this; it is for the whole call, so its parts no longer hold. */
export function withAnswer<Event extends FinishedToolFacts>(
  event: Event,
  { output, failed }: Pick<Changes, 'output' | 'failed'>,
): Event {
  if (output === undefined) return event;
  const { parts: _parts, ...result } = event.result;
  const isText = typeof output === 'string';
  const text = isText ? output : (JSON.stringify(output) ?? '');
  return {
    ...event,
    // The event's name stays that of a succeeded or failed call, because handlers of that event get it, too.
    result: { ...result, response: isText ? undefined : output, text },
    ...(failed === undefined ? {} : { replaced: { output, failed } }),
  };
}

type Unfinished = { -readonly [Field in keyof Moment]: Moment[Field] };

/**
 * A fired event with its whole moment: its own fields win, then those of the caller.
 * Field by field, because V8 takes many times as long to copy an object and add to the copy.
 */
export function completeEvent(
  fired: FiredEvent,
  moment: Moment,
  callerMoment: Partial<Moment> = moment,
): HookEvent {
  const event: Unfinished = {
    sessionId: callerMoment.sessionId ?? moment.sessionId,
    taskId: callerMoment.taskId ?? moment.taskId,
    ulid: callerMoment.ulid ?? moment.ulid,
    at: callerMoment.at ?? moment.at,
    cwd: callerMoment.cwd ?? moment.cwd,
    workspaceRoots: callerMoment.workspaceRoots ?? moment.workspaceRoots,
    permissionMode: callerMoment.permissionMode ?? moment.permissionMode,
    model: callerMoment.model ?? moment.model,
    agent: callerMoment.agent ?? moment.agent,
    iteration: callerMoment.iteration ?? moment.iteration,
    userId: callerMoment.userId ?? moment.userId,
    version: callerMoment.version ?? moment.version,
    transcriptPath:
      callerMoment.transcriptPath === undefined
        ? moment.transcriptPath
        : callerMoment.transcriptPath,
    promptId: callerMoment.promptId === undefined ? moment.promptId : callerMoment.promptId,
  };
  const startDirectory = callerMoment.startDirectory ?? moment.startDirectory;
  if (startDirectory !== undefined) event.startDirectory = startDirectory;
  const effort = callerMoment.effort ?? moment.effort;
  if (effort !== undefined) event.effort = effort;
  const skills = callerMoment.skills ?? moment.skills;
  if (skills !== undefined) event.skills = skills;
  return Object.assign(event, fired);
}
