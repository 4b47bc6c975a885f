import path from 'node:path';
import { formatResult, listToolViews } from '../../tool-vocabularies/tool-views.ts';
import type { CallFacts, EventFacts, HookEvent } from '../../hooks/facts.ts';
import type { HandlerInput } from '../../hooks/handler.ts';
import { FILE_HOOKS, type FileHookName, type Profile, PROFILES } from './events.ts';
import { isSharedName } from './tool-mentions.ts';

type Fields = Record<string, unknown>;

/** Encodes the stdin of a file hook: every field of both generations, falsy ones too. */
export function encodePayload(input: HandlerInput, name: FileHookName, profile: Profile): string {
  const generation = findGeneration(input, profile);
  const fields = createCommonFields(input.event, name, generation);
  return JSON.stringify(Object.assign(fields, createEventFields(input, generation)));
}

/** Where the vocabulary was chosen for the call, the other fields are of the generation that has that tool. */
function findGeneration({ asked, tool }: HandlerInput, profile: Profile): Profile {
  if (asked === undefined || tool === null || isSharedName(tool.name)) return profile;
  return PROFILES.find((each) => each === asked.vocabulary) ?? profile;
}

function createCommonFields(event: HookEvent, name: FileHookName, profile: Profile): Fields {
  const sdkName = FILE_HOOKS[name].sdkName;
  return {
    clineVersion: event.version,
    hookName: profile === 'sdk' ? sdkName : name,
    hookNames: { classic: name, sdk: sdkName },
    timestamp: profile === 'sdk' ? formatTime(event.at) : String(event.at),
    taskId: event.taskId,
    workspaceRoots: event.workspaceRoots,
    workspaceInfo: createWorkspaceInfo(event),
    userId: event.userId,
    model: { provider: event.model.provider, slug: event.model.id },
    sessionContext: { rootSessionId: event.sessionId },
    agent_id: event.agent.id,
    parent_agent_id: event.agent.parentId,
    iteration: event.iteration,
    cwd: event.cwd,
    mode: event.permissionMode === 'plan' ? 'plan' : 'act',
  };
}

function createWorkspaceInfo(event: HookEvent): Fields {
  const rootPath = event.workspaceRoots[0] ?? event.cwd;
  return { rootPath, hint: path.basename(rootPath) };
}

function createEventFields(input: HandlerInput, profile: Profile): Fields {
  const { event } = input;
  switch (event.name) {
    case 'PreToolUse':
      return createPreToolUse(input, event.tool);
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return createPostToolUse(input, event, profile);
    case 'TaskStart':
      return { taskStart: { taskMetadata: { ...createTask(event), initialTask: event.prompt } } };
    case 'TaskResume':
      return createTaskResume(event);
    case 'TaskComplete':
      return createTaskComplete(event);
    case 'UserPromptSubmit':
      return {
        userPromptSubmit: { prompt: event.prompt, attachments: event.attachments ?? [] },
      };
    case 'RunEnd':
      return event.status === 'aborted' ? createTaskCancel(event) : { error: event.error ?? null };
    case 'PreCompact':
      return createPreCompact(event);
    case 'Notification':
      return createNotification(event);
    case 'SessionEnd':
      return { reason: event.reason };
    default:
      return {};
  }
}

function createPreToolUse(input: HandlerInput, call: CallFacts): Fields {
  return {
    ...createAliases(input, call),
    preToolUse: createClassicTool(input, call),
    tool_call: { id: call.callId, ...createSdkTool(input, call).fields },
  };
}

/** Names under which hooks look for the tool that no generation of Cline sends, so that they never match there. */
function createAliases(input: HandlerInput, call: CallFacts): Fields {
  const name = input.tool?.name ?? call.name;
  const toolInput = input.tool?.input ?? call.input ?? {};
  return { tool_name: name, tool_input: toolInput, toolName: name, tool: name };
}

/** Creates the tool under the name of the hook's generation, for the part of this run. */
function createClassicTool(input: HandlerInput, call: CallFacts): Fields {
  const toolName = input.tool?.name ?? call.name;
  const parameters = toStringMap(input.tool?.input ?? call.input);
  return { toolName, tool: toolName, parameters };
}

/**
 * Creates the call for `tool_call` and `tool_result` in the SDK's vocabulary: whole if one SDK call can
 * express it, else the part of this run. Where the vocabulary was chosen, a hook may compare the name
 * here, so it is in that one.
 */
function createSdkTool({ event, tool, asked }: HandlerInput, call: CallFacts) {
  if (asked !== undefined && tool !== null) {
    return { fields: { name: tool.name, input: tool.input ?? null }, part: tool.part };
  }
  const views = listToolViews(call, 'sdk', {
    cwd: event.cwd,
    root: event.workspaceRoots[0] ?? null,
  });
  const part = views.length > 1 ? (tool?.part ?? 0) : null;
  const view = views[part ?? 0] ?? call;
  return { fields: { name: view.name, input: view.input ?? null }, part };
}

function createPostToolUse(
  input: HandlerInput,
  event: HookEvent<'PostToolUse' | 'PostToolUseFailure'>,
  profile: Profile,
): Fields {
  const { tool: call, result } = event;
  const part = input.tool?.part ?? null;
  const sdk = createSdkTool(input, call);
  const isSdk = (input.asked?.vocabulary ?? profile) === 'sdk';
  const sdkOutput = formatResult(call, result, 'sdk', sdk.part);
  const ownOutput = isSdk ? sdkOutput : formatResult(call, result, 'classic', part);
  return {
    ...createAliases(input, call),
    postToolUse: {
      ...createClassicTool(input, call),
      result: toText(ownOutput),
      success: result.success,
      executionTimeMs: Math.round(event.durationMs),
    },
    tool_result: {
      id: call.callId,
      ...sdk.fields,
      output: sdkOutput,
      ...(result.success ? {} : { error: result.error ?? result.text }),
      durationMs: Math.round(event.durationMs),
      startedAt: formatTime(event.at - event.durationMs),
      endedAt: formatTime(event.at),
    },
  };
}

function createTask(event: HookEvent): Fields {
  return { taskId: event.taskId, ulid: event.ulid };
}

function createTaskResume(event: HookEvent<'TaskResume'>): Fields {
  return {
    taskResume: {
      taskMetadata: { ...createTask(event), initialTask: event.prompt },
      previousState: {
        lastMessageTs: event.lastMessageAt === null ? '' : String(event.lastMessageAt),
        messageCount: String(event.messageCount),
        conversationHistoryDeleted: String(event.historyDeleted),
      },
    },
  };
}

function createTaskComplete(event: HookEvent<'TaskComplete'>): Fields {
  const { result, command = '' } = event;
  return {
    taskComplete: { taskMetadata: { ...createTask(event), result, command } },
    turn: { outputText: result, status: 'completed' },
  };
}

function createTaskCancel(event: HookEvent<'RunEnd'>): Fields {
  return {
    taskCancel: {
      taskMetadata: { ...createTask(event), completionStatus: getCompletionStatus(event) },
    },
    reason: event.reason ?? '',
  };
}

function getCompletionStatus({ reason }: HookEvent<'RunEnd'>): string {
  return reason === 'abandoned' ? 'abandoned' : 'cancelled';
}

function createPreCompact(event: HookEvent & EventFacts['PreCompact']): Fields {
  const messageCount = event.messageCount ?? 0;
  return {
    preCompact: {
      ...createTask(event),
      contextSize: messageCount,
      messagesToCompact: messageCount,
      compactionStrategy: event.strategy ?? 'auto-condense',
      previousApiReqIndex: event.previousRequestIndex ?? 0,
      tokensIn: event.tokensIn ?? 0,
      tokensOut: event.tokensOut ?? 0,
      tokensInCache: event.tokensInCache ?? 0,
      tokensOutCache: event.tokensOutCache ?? 0,
      deletedRangeStart: event.deletedRange?.[0] ?? 0,
      deletedRangeEnd: event.deletedRange?.[1] ?? 0,
      contextJsonPath: event.contextJsonPath ?? '',
      contextRawPath: event.contextRawPath ?? '',
    },
  };
}

const NOTIFICATION_LIMIT = 8000;

function createNotification(event: HookEvent<'Notification'>): Fields {
  const isDone = event.type === 'task_complete' || event.type === 'agent_completed';
  const source = event.source ?? (isDone ? 'attempt_completion' : event.type);
  const waiting = event.waiting ?? !isDone;
  const messageTruncated = event.message.length > NOTIFICATION_LIMIT;
  return {
    notification: {
      event: isDone ? 'task_complete' : 'user_attention',
      source,
      message: messageTruncated
        ? `${event.message.slice(0, NOTIFICATION_LIMIT)}\n...[truncated]`
        : event.message,
      messageTruncated,
      waitingForUserInput: waiting,
      requiresUserAction: waiting,
      eventVersion: '1',
      eventId: `${event.ulid}-${event.at}`,
      sourceType: isDone ? 'tool' : 'ask',
      sourceId: source,
      severity: 'info',
    },
  };
}

/** Cline's parameters are strings: texts stay, other values become JSON. */
function toStringMap(input: unknown): Record<string, string> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return {};
  return Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, toText(value)]),
  );
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString();
}
