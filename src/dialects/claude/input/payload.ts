import type { HookEvent, EventFacts } from '../../../hooks/facts.ts';
import type { HandlerInput } from '../../../hooks/handler.ts';
import { CLAUDE_EVENTS, type ClaudeEvent } from '../events.ts';
import {
  type Fields,
  createBatchFields,
  createFailureFields,
  createSuccessFields,
  createToolFields,
} from './tool-fields.ts';
import { buildAgentTranscriptPath } from './transcript.ts';

export interface PayloadRequest {
  readonly input: HandlerInput;
  readonly event: ClaudeEvent;
  /** The transcript to name when the host keeps none. */
  readonly transcriptPath: string;
  /** The directory that replaces `~` in a tool's path; null leaves `~`. */
  readonly home: string | null;
  /** Fields of this run only, such as its CLAUDE_ENV_FILE. */
  readonly extras?: Fields;
}

/** Encodes the stdin of a hook: one line of JSON with the keys in Claude's order, without absent ones. */
export function encodePayload(request: PayloadRequest): string {
  const { input, home, extras } = request;
  const common = createCommonFields(request);
  const transcriptPath = common.transcript_path;
  const eventFields = createEventFields(input, home, transcriptPath);
  return `${JSON.stringify({ ...common, ...eventFields, ...extras })}\n`;
}

function createCommonFields({ input: { event }, event: name, transcriptPath }: PayloadRequest) {
  return {
    session_id: event.sessionId,
    transcript_path: event.transcriptPath ?? transcriptPath,
    cwd: event.cwd,
    prompt_id: event.promptId ?? undefined,
    permission_mode: CLAUDE_EVENTS[name].hasPermissionMode ? toPermissionMode(event) : undefined,
    ...createAgentFields(event),
    effort: createEffort(name, event),
    hook_event_name: name,
  };
}

const PERMISSION_MODES = new Set([
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'auto',
  'bypassPermissions',
]);

/** Hooks compare the mode with Claude's values only, so others become `default`. */
function toPermissionMode(event: HookEvent): string {
  return PERMISSION_MODES.has(event.permissionMode) ? event.permissionMode : 'default';
}

function createAgentFields(event: HookEvent): Fields {
  const { id, parentId, type } = event.agent;
  if (event.name === 'SubagentStart' || event.name === 'SubagentStop') {
    return { agent_id: id, agent_type: event.agentType };
  }
  return { agent_id: parentId === null ? undefined : id, agent_type: type ?? undefined };
}

const EVENTS_WITH_EFFORT: ReadonlySet<string> = new Set<ClaudeEvent>([
  'PreToolUse',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Stop',
  'SubagentStop',
]);

/** Whether the payload of an event has `effort`. */
export function hasEffort(name: string): boolean {
  return EVENTS_WITH_EFFORT.has(name);
}

function createEffort(name: ClaudeEvent, event: HookEvent): Fields | undefined {
  if (event.effort === undefined || !hasEffort(name)) return undefined;
  return { level: event.effort };
}

/** Creates the fields that are specific to the event; undefined ones are not written. */
function createEventFields(
  input: HandlerInput,
  home: string | null,
  transcriptPath: string,
): Fields {
  const { event } = input;
  switch (event.name) {
    case 'PreToolUse':
      return {
        ...createToolFields(input, event, home),
        tool_use_id: event.tool.callId,
        mcp_server: event.mcpServer,
      };
    case 'PermissionRequest':
      return {
        ...createToolFields(input, event, home),
        permission_suggestions: event.suggestions,
        mcp_server: event.mcpServer,
      };
    case 'PermissionDenied':
      return {
        ...createToolFields(input, event, home),
        tool_use_id: event.tool.callId,
        reason: event.reason,
        mcp_server: event.mcpServer,
      };
    case 'PostToolUse':
      return createSuccessFields(input, event, home);
    case 'PostToolUseFailure':
      return createFailureFields(input, event, home);
    case 'PostToolBatch':
      return createBatchFields(event);
    case 'Stop':
      return createStopFields(event);
    case 'SubagentStop':
      return createStopFields(event, {
        agent_transcript_path:
          event.agentTranscriptPath ?? buildAgentTranscriptPath(transcriptPath, event.agent.id),
      });
    default:
      return createSessionFields(event) ?? createNoticeFields(event) ?? createServerFields(event);
  }
}

function createStopFields(event: EventFacts['Stop'], transcript: Fields = {}): Fields {
  return {
    stop_hook_active: event.again,
    ...transcript,
    last_assistant_message: event.lastText === '' ? undefined : event.lastText,
    background_tasks: (event.backgroundTasks ?? []).map(({ agentType, ...task }) => ({
      ...task,
      agent_type: agentType,
    })),
    session_crons: event.scheduledPrompts ?? [],
  };
}

function createSessionFields(event: HookEvent): Fields | null {
  switch (event.name) {
    case 'SessionStart':
      return createSessionStartFields(event);
    case 'Setup':
      return { trigger: event.trigger };
    case 'SessionEnd':
      return { reason: event.reason };
    case 'UserPromptSubmit':
      return {
        prompt: event.prompt,
        source: event.source,
        session_title: event.title,
        user_prompt: event.prompt,
      };
    case 'UserPromptExpansion':
      return {
        expansion_type: event.kind ?? 'slash_command',
        command_name: event.command,
        command_args: event.commandArguments,
        command_source: event.commandSource,
        prompt: event.prompt,
      };
    case 'PreCompact':
      return { trigger: event.trigger, custom_instructions: event.instructions ?? null };
    case 'PostCompact':
      return { trigger: event.trigger, compact_summary: event.summary };
    case 'RunEnd':
      return {
        error: event.errorClass ?? 'unknown',
        error_details: event.errorDetails,
        last_assistant_message: event.lastText ?? event.error?.message,
      };
    case 'PreModelSwitch':
    case 'PostModelSwitch':
      return createModelSwitchFields(event);
    default:
      return null;
  }
}

function createSessionStartFields(event: HookEvent<'SessionStart'>): Fields {
  return {
    source: event.source,
    model: event.model.id === 'unknown' ? undefined : event.model.id,
    session_title: event.title,
    seconds_since_last_response: event.secondsSinceLastResponse,
    context_tokens: event.contextTokens,
    prompt_cache_likely_expired: event.isCacheLikelyExpired,
    estimated_cache_write_usd: event.cacheWriteUsd,
    session_trigger: event.source,
  };
}

function createModelSwitchFields(event: EventFacts['PreModelSwitch']): Fields {
  return {
    from_model: event.fromModel,
    to_model: event.toModel,
    requested_model: event.requestedModel,
    source: event.source,
    context_tokens: event.contextTokens,
    prompt_cache_warm: event.isCacheWarm,
    cache_ttl: event.cacheLifetime,
    estimated_cache_write_usd: event.cacheWriteUsd,
    pricing: event.pricing,
  };
}

function createNoticeFields(event: HookEvent): Fields | null {
  switch (event.name) {
    case 'Notification':
      return { message: event.message, title: event.title, notification_type: event.type };
    case 'MessageDisplay':
      return {
        turn_id: event.turnId ?? event.promptId ?? event.messageId,
        message_id: event.messageId,
        index: event.index ?? 0,
        final: event.isFinal ?? true,
        delta: event.text,
      };
    case 'ConfigChange':
      return { source: event.source, file_path: event.file === '' ? undefined : event.file };
    case 'InstructionsLoaded':
      return {
        file_path: event.file,
        memory_type: event.memoryType ?? 'Project',
        load_reason: event.loadReason,
        globs: event.globs,
        trigger_file_path: event.triggerFile,
        parent_file_path: event.parentFile,
      };
    case 'CwdChanged':
      return { old_cwd: event.from, new_cwd: event.to };
    case 'DirectoryAdded':
      return { directory: event.directory, source: event.source };
    case 'FileChanged':
      return { file_path: event.file, event: event.change };
    case 'WorktreeCreate':
      return { name: event.worktree };
    case 'WorktreeRemove':
      return { worktree_path: event.path };
    default:
      return null;
  }
}

function createServerFields(event: HookEvent): Fields {
  switch (event.name) {
    case 'TaskCreated':
    case 'TaskCompleted':
      return {
        task_id: event.itemId,
        task_subject: event.subject,
        task_description: event.description,
        teammate_name: event.teammate,
        team_name: event.team,
      };
    case 'TeammateIdle':
      return { teammate_name: event.teammate, team_name: event.team };
    case 'Elicitation':
      return {
        mcp_server_name: event.server,
        message: event.message,
        mode: event.mode,
        url: event.url,
        elicitation_id: event.elicitationId,
        requested_schema: event.schema,
      };
    case 'ElicitationResult':
      return {
        mcp_server_name: event.server,
        elicitation_id: event.elicitationId,
        mode: event.mode,
        action: event.action,
        content: event.content,
      };
    default:
      return {};
  }
}
