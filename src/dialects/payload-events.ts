import type {
  FiredEvent,
  Moment,
  BackgroundTaskFacts,
  EventFacts,
  ScheduledPromptFacts,
  CallFacts,
} from '../hooks/facts.ts';
import type { AgentVocabulary } from '../tool-vocabularies/tool-views.ts';
import { dropUndefined } from '../base/defined.ts';
import type { PayloadReader } from './payload-reader.ts';
import { isRecord } from '../base/json.ts';

/** Reads what every event carries, under the keys that Claude Code introduced and other agents have adopted. */
export function readMoment(payload: PayloadReader): Partial<Moment> {
  return dropUndefined({
    sessionId: payload.findText('session_id'),
    transcriptPath: payload.findText('transcript_path'),
    cwd: payload.findText('cwd'),
    promptId: payload.findText('prompt_id'),
    permissionMode: payload.findText('permission_mode'),
    effort: payload.find('effort')?.findText('level'),
    agent: readAgent(payload),
  });
}

/** Only sub-agents have an id; the main agent may have a type. */
function readAgent(payload: PayloadReader): Moment['agent'] | undefined {
  const id = payload.findText('agent_id');
  const type = payload.findText('agent_type');
  const sessionId = payload.textOr('session_id', 'main');
  if (id !== undefined) return { id, parentId: sessionId, type: type ?? null };
  return type === undefined ? undefined : { id: sessionId, parentId: null, type };
}

/** How an agent writes tool calls, where that differs from Claude Code. */
export interface CallWords {
  readonly vocabulary?: AgentVocabulary;
  /** Reads what the model sees of a response; an error means that the call failed. */
  readonly readResponse?: (response: unknown) => ResponseText;
}

export interface ResponseText {
  readonly text: string;
  readonly error?: string;
}

type ReadEvent = (payload: PayloadReader, words: CallWords) => FiredEvent;

/** Reads the facts of an event, with Claude's defaults for absent fields; the keys are Claude's names of events. */
export const EVENT_READERS = {
  PreToolUse: (payload, words) => ({ name: 'PreToolUse', ...readTool(payload, words) }),
  PermissionRequest: (payload, words) => ({
    name: 'PermissionRequest',
    ...readTool(payload, words),
    ...dropUndefined({ suggestions: payload.findItems('permission_suggestions') }),
  }),
  PermissionDenied: (payload, words) => ({
    name: 'PermissionDenied',
    ...readTool(payload, words),
    reason: payload.textOr('reason', ''),
  }),
  PostToolUse: readSucceededTool,
  PostToolUseFailure: readFailedTool,
  PostToolBatch: readBatch,
  UserPromptSubmit: (payload) => ({
    name: 'UserPromptSubmit',
    prompt: payload.textOr('prompt', '', 'user_prompt'),
    ...dropUndefined({
      source: payload.findText('source'),
      title: payload.findText('session_title'),
    }),
  }),
  UserPromptExpansion: (payload) => ({
    name: 'UserPromptExpansion',
    prompt: payload.textOr('prompt', ''),
    command: payload.textOr('command_name', ''),
    commandArguments: payload.textOr('command_args', ''),
    ...dropUndefined({
      kind: payload.findChoice('expansion_type', ['slash_command', 'mcp_prompt']),
      commandSource: payload.findText('command_source'),
    }),
  }),
  SessionStart: readSessionStart,
  Setup: (payload) => ({
    name: 'Setup',
    trigger: payload.findChoice('trigger', ['init', 'maintenance']) ?? 'init',
  }),
  SessionEnd: (payload) => ({ name: 'SessionEnd', reason: payload.textOr('reason', 'other') }),
  Stop: (payload) => ({ name: 'Stop', ...readStop(payload) }),
  SubagentStart: (payload) => ({ name: 'SubagentStart', agentType: readAgentType(payload) }),
  SubagentStop: (payload) => ({
    name: 'SubagentStop',
    agentType: readAgentType(payload),
    ...readStop(payload),
    ...dropUndefined({ agentTranscriptPath: payload.findText('agent_transcript_path') }),
  }),
  StopFailure: readStopFailure,
  Notification: (payload) => ({
    name: 'Notification',
    type: payload.textOr('notification_type', ''),
    message: payload.textOr('message', ''),
    ...dropUndefined({ title: payload.findText('title') }),
  }),
  MessageDisplay: (payload) => ({
    name: 'MessageDisplay',
    text: payload.textOr('delta', ''),
    messageId: payload.textOr('message_id', ''),
    ...dropUndefined({
      turnId: payload.findText('turn_id'),
      index: payload.findNumber('index'),
      isFinal: payload.findFlag('final'),
    }),
  }),
  PreCompact: (payload) => ({
    name: 'PreCompact',
    trigger: readCompactionTrigger(payload),
    instructions: payload.findText('custom_instructions') ?? null,
  }),
  PostCompact: (payload) => ({
    name: 'PostCompact',
    trigger: readCompactionTrigger(payload),
    summary: payload.textOr('compact_summary', ''),
  }),
  PreModelSwitch: (payload) => ({ name: 'PreModelSwitch', ...readSwitch(payload) }),
  PostModelSwitch: (payload) => ({ name: 'PostModelSwitch', ...readSwitch(payload) }),
  TaskCreated: (payload) => ({ name: 'TaskCreated', ...readItem(payload) }),
  TaskCompleted: (payload) => ({ name: 'TaskCompleted', ...readItem(payload) }),
  TeammateIdle: (payload) => ({
    name: 'TeammateIdle',
    teammate: payload.textOr('teammate_name', ''),
    ...dropUndefined({ team: payload.findText('team_name') }),
  }),
  Elicitation: (payload) => ({
    name: 'Elicitation',
    ...readElicitation(payload),
    message: payload.textOr('message', ''),
    ...dropUndefined({ schema: payload.value('requested_schema'), url: payload.findText('url') }),
  }),
  ElicitationResult: (payload) => ({
    name: 'ElicitationResult',
    ...readElicitation(payload),
    action: payload.textOr('action', 'cancel'),
    ...dropUndefined({ content: payload.value('content') }),
  }),
  ConfigChange: (payload) => ({
    name: 'ConfigChange',
    source: payload.textOr('source', ''),
    file: payload.textOr('file_path', ''),
  }),
  InstructionsLoaded: (payload) => ({
    name: 'InstructionsLoaded',
    file: payload.textOr('file_path', ''),
    loadReason: payload.textOr('load_reason', 'session_start'),
    ...dropUndefined({
      memoryType: payload.findChoice('memory_type', ['User', 'Project', 'Local', 'Managed']),
      globs: payload.findTexts('globs'),
      triggerFile: payload.findText('trigger_file_path'),
      parentFile: payload.findText('parent_file_path'),
    }),
  }),
  CwdChanged: (payload) => ({
    name: 'CwdChanged',
    from: payload.textOr('old_cwd', ''),
    to: payload.textOr('new_cwd', ''),
  }),
  DirectoryAdded: (payload) => ({
    name: 'DirectoryAdded',
    directory: payload.textOr('directory', ''),
    source: payload.textOr('source', ''),
  }),
  FileChanged: (payload) => ({
    name: 'FileChanged',
    file: payload.textOr('file_path', ''),
    change: payload.findChoice('event', ['change', 'add', 'unlink']) ?? 'change',
  }),
  WorktreeCreate: (payload) => ({ name: 'WorktreeCreate', worktree: payload.textOr('name', '') }),
  WorktreeRemove: (payload) => ({
    name: 'WorktreeRemove',
    path: payload.textOr('worktree_path', ''),
  }),
} as const satisfies Readonly<Record<string, ReadEvent>>;

export type ReadableEvent = keyof typeof EVENT_READERS;

export function isReadableEvent(name: string | null): name is ReadableEvent {
  return name !== null && Object.hasOwn(EVENT_READERS, name);
}

const SESSION_SOURCES = ['startup', 'resume', 'clear', 'compact', 'fork'] as const;

function readSessionStart(payload: PayloadReader): FiredEvent {
  const model = payload.findText('model');
  const source =
    payload.findChoice('source', SESSION_SOURCES) ??
    payload.findChoice('session_trigger', SESSION_SOURCES);
  return {
    name: 'SessionStart',
    source: source ?? 'startup',
    ...dropUndefined({
      model: model === undefined ? undefined : { provider: 'anthropic', id: model },
      title: payload.findText('session_title'),
      secondsSinceLastResponse: payload.findNumber('seconds_since_last_response'),
      contextTokens: payload.findNumber('context_tokens'),
      isCacheLikelyExpired: payload.findFlag('prompt_cache_likely_expired'),
      cacheWriteUsd: payload.findNumber('estimated_cache_write_usd'),
    }),
  };
}

function readStop(payload: PayloadReader): EventFacts['Stop'] {
  return {
    lastText: payload.textOr('last_assistant_message', ''),
    again: payload.findFlag('stop_hook_active') ?? false,
    ...dropUndefined({
      backgroundTasks: payload.findList('background_tasks')?.map(readBackgroundTask),
      scheduledPrompts: payload.findList('session_crons')?.map(readScheduledPrompt),
    }),
  };
}

function readBackgroundTask(task: PayloadReader): BackgroundTaskFacts {
  return {
    id: task.textOr('id', ''),
    type: task.textOr('type', ''),
    status: task.textOr('status', ''),
    description: task.textOr('description', ''),
    ...dropUndefined({
      command: task.findText('command'),
      agentType: task.findText('agent_type'),
      server: task.findText('server'),
      tool: task.findText('tool'),
      name: task.findText('name'),
    }),
  };
}

function readScheduledPrompt(cron: PayloadReader): ScheduledPromptFacts {
  return {
    id: cron.textOr('id', ''),
    schedule: cron.textOr('schedule', ''),
    recurring: cron.findFlag('recurring') ?? false,
    prompt: cron.textOr('prompt', ''),
  };
}

function readAgentType(payload: PayloadReader): string {
  return payload.textOr('agent_type', 'general-purpose');
}

function readStopFailure(payload: PayloadReader): FiredEvent {
  const lastText = payload.findText('last_assistant_message');
  const errorClass = payload.textOr('error', 'unknown');
  return {
    name: 'RunEnd',
    status: 'failed',
    error: { name: 'Error', message: lastText ?? errorClass },
    errorClass,
    ...dropUndefined({ errorDetails: payload.findText('error_details'), lastText }),
  };
}

function readCompactionTrigger(payload: PayloadReader): 'manual' | 'auto' {
  return payload.findChoice('trigger', ['manual', 'auto']) ?? 'auto';
}

function readSwitch(payload: PayloadReader): EventFacts['PreModelSwitch'] {
  return {
    fromModel: payload.textOr('from_model', ''),
    toModel: payload.textOr('to_model', ''),
    requestedModel: payload.findText('requested_model') ?? null,
    source: payload.textOr('source', ''),
    ...dropUndefined({
      contextTokens: payload.findNumber('context_tokens'),
      isCacheWarm: payload.findFlag('prompt_cache_warm'),
      cacheLifetime: payload.findText('cache_ttl'),
      cacheWriteUsd: payload.findNumber('estimated_cache_write_usd'),
      pricing: payload.findText('pricing'),
    }),
  };
}

function readItem(payload: PayloadReader): EventFacts['TaskCreated'] {
  return {
    itemId: payload.textOr('task_id', ''),
    subject: payload.textOr('task_subject', ''),
    ...dropUndefined({
      description: payload.findText('task_description'),
      teammate: payload.findText('teammate_name'),
      team: payload.findText('team_name'),
    }),
  };
}

function readElicitation(
  payload: PayloadReader,
): Pick<EventFacts['Elicitation'], 'server' | 'mode' | 'elicitationId'> {
  return {
    server: payload.textOr('mcp_server_name', ''),
    ...dropUndefined({
      mode: payload.findChoice('mode', ['form', 'url']),
      elicitationId: payload.findText('elicitation_id'),
    }),
  };
}

function readTool(payload: PayloadReader, words: CallWords): EventFacts['PreToolUse'] {
  return { tool: readCall(payload, words), ...dropUndefined({ mcpServer: readServer(payload) }) };
}

function readSucceededTool(payload: PayloadReader, words: CallWords): FiredEvent {
  const tool = readTool(payload, words);
  const durationMs = payload.findNumber('duration_ms') ?? 0;
  const response = payload.value('tool_response') ?? payload.value('tool_result');
  const { text, error } = words.readResponse?.(response) ?? { text: readResponseText(response) };
  if (error !== undefined) {
    const result = { response: undefined, text, success: false, error };
    return { name: 'PostToolUseFailure', ...tool, result, durationMs };
  }
  // A response in the shape of another agent is no response of Claude's tool.
  const own = words.readResponse === undefined ? response : undefined;
  return {
    name: 'PostToolUse',
    ...tool,
    result: { response: own, text, success: true },
    durationMs,
  };
}

function readFailedTool(payload: PayloadReader, words: CallWords): FiredEvent {
  const error = payload.textOr('error', '');
  const exitCode = /^Exit code (\d+)/u.exec(error)?.[1];
  return {
    name: 'PostToolUseFailure',
    ...readTool(payload, words),
    result: {
      response: undefined,
      text: error,
      success: false,
      error,
      ...dropUndefined({ exitCode: exitCode === undefined ? undefined : Number(exitCode) }),
    },
    durationMs: payload.findNumber('duration_ms') ?? 0,
    ...dropUndefined({ interrupted: payload.findFlag('is_interrupt') }),
  };
}

function readBatch(payload: PayloadReader, words: CallWords): FiredEvent {
  const calls = (payload.findList('tool_calls') ?? []).map((call) => ({
    ...readCall(call, words),
    ...dropUndefined({ answer: call.value('tool_response') }),
  }));
  return { name: 'PostToolBatch', calls };
}

function readCall(payload: PayloadReader, { vocabulary }: CallWords): CallFacts {
  return {
    callId: payload.textOr('tool_use_id', '', 'tool_call_id'),
    name: payload.text('tool_name'),
    input: payload.value('tool_input') ?? {},
    ...dropUndefined({ vocabulary }),
  };
}

function readServer(payload: PayloadReader): EventFacts['PreToolUse']['mcpServer'] {
  const server = payload.find('mcp_server');
  return server && { name: server.textOr('name', ''), source: server.textOr('source', '') };
}

/** Reads the text that the model sees: the text blocks of a response, or all of it as JSON. */
export function readResponseText(response: unknown): string {
  if (typeof response === 'string') return response;
  if (Array.isArray(response)) return response.map(readBlockText).join('\n');
  if (!isRecord(response)) return JSON.stringify(response) ?? '';
  const { stdout, file, result, content } = response;
  const output = [stdout, isRecord(file) ? file['content'] : undefined, result].find(
    (text) => typeof text === 'string',
  );
  if (typeof output === 'string') return output;
  return Array.isArray(content) ? content.map(readBlockText).join('\n') : JSON.stringify(response);
}

function readBlockText(block: unknown): string {
  const isText = isRecord(block) && typeof block['text'] === 'string';
  return isText ? String(block['text']) : (JSON.stringify(block) ?? '');
}
