import { HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import type { ToolResult } from '../../tool-vocabularies/tool-views.ts';
import type { ErrorFacts, EventName, FiredEvent, Moment } from '../../hooks/facts.ts';
import { type PayloadEnvelope, readTime } from '../payload-envelope.ts';
import { FILE_HOOKS, type FileHookName, findFileHookName } from './events.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Reads a payload of either generation of Cline as an event. */
export function readPayload(payload: unknown): FiredEvent {
  if (!isRecord(payload)) {
    throw createPayloadError(`expected an object, found ${getTypeName(payload)}`);
  }
  const name = findFileHookName(toText(payload['hookName']));
  if (name === null) {
    throw createPayloadError(
      `"hookName" should name a Cline hook, found ${JSON.stringify(payload['hookName'])}`,
    );
  }
  return { ...readMoment(payload), ...readTask(name, payload), ...readEvent(name, payload) };
}

/** Reads of a payload of either generation what is stored of it. */
export function readEnvelope(payload: unknown): PayloadEnvelope {
  const fields = toRecord(payload);
  const hookName = toText(fields['hookName']);
  const name = findFileHookName(hookName);
  const data = name === null ? {} : toRecord(fields[getDataKey(name)]);
  const call = toRecord(fields['tool_call'] ?? fields['tool_result']);
  const tool = readTool(data, call);
  const [root = ''] = filterTexts(fields['workspaceRoots']);
  const rootSession = toText(toRecord(fields['sessionContext'])['rootSessionId']);
  return {
    event: findStoredEvent(name, data),
    foreignEvent: hookName || null,
    at: readTime(fields['timestamp']),
    sessionId: rootSession || toText(fields['taskId']) || null,
    workspace: toText(fields['cwd']) || root || null,
    call: tool.name === '' ? null : { name: tool.name, input: tool.input },
  };
}

/** A call that failed is an event of its own here. */
function findStoredEvent(name: FileHookName | null, data: Fields): EventName | null {
  if (name === 'PostToolUse' && data['success'] === false) return 'PostToolUseFailure';
  return name === null ? null : FILE_HOOKS[name].events[0];
}

/** Reads the event from a hook's own data: `{ toolName, parameters }` for PreToolUse. */
export function readEventFromData(name: FileHookName, data: Fields): FiredEvent {
  const payload = { [getDataKey(name)]: data, ...data };
  return { ...readTask(name, payload), ...readEvent(name, payload) };
}

function createPayloadError(message: string): HooklineError {
  return new HooklineError('PAYLOAD_INVALID', {
    message: `not a payload of a Cline hook: ${message}`,
    hint: 'A Cline payload is one JSON object with "hookName" and the data of that hook.',
  });
}

function getDataKey(name: FileHookName): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

function readMoment(payload: Fields): Partial<Moment> {
  const model = toRecord(payload['model']);
  const session = toRecord(payload['sessionContext']);
  const at = readTime(toText(payload['timestamp']));
  return {
    ...omitEmpty('taskId', toText(payload['taskId'])),
    ...omitEmpty('sessionId', toText(session['rootSessionId'])),
    ...omitEmpty('userId', toText(payload['userId'])),
    ...omitEmpty('version', toText(payload['clineVersion'])),
    ...omitEmpty('cwd', toText(payload['cwd'])),
    ...(at === null ? {} : { at }),
    ...(Array.isArray(payload['workspaceRoots'])
      ? { workspaceRoots: filterTexts(payload['workspaceRoots']) }
      : {}),
    ...(Object.keys(model).length === 0
      ? {}
      : { model: { provider: toText(model['provider']), id: toText(model['slug']) } }),
    ...readAgent(payload),
    ...(typeof payload['iteration'] === 'number' ? { iteration: payload['iteration'] } : {}),
    ...(payload['mode'] === 'plan' ? { permissionMode: 'plan' } : {}),
  };
}

/** Reads the ids in a hook's own data. */
function readTask(name: FileHookName, payload: Fields): Partial<Moment> {
  const data = toRecord(payload[getDataKey(name)]);
  const { taskId, ulid } = name === 'PreCompact' ? data : toRecord(data['taskMetadata']);
  return { ...omitEmpty('taskId', toText(taskId)), ...omitEmpty('ulid', toText(ulid)) };
}

function readAgent(payload: Fields): Partial<Moment> {
  const id = toText(payload['agent_id']);
  if (id === '') return {};
  const parentId = toText(payload['parent_agent_id']);
  return { agent: { id, parentId: parentId === '' ? null : parentId, type: null } };
}

function readEvent(name: FileHookName, payload: Fields): FiredEvent {
  const data = toRecord(payload[getDataKey(name)]);
  const metadata = toRecord(data['taskMetadata']);
  switch (name) {
    case 'PreToolUse':
      return { name, tool: readTool(data, toRecord(payload['tool_call'])) };
    case 'PostToolUse':
      return readPostToolUse(data, toRecord(payload['tool_result']));
    case 'TaskStart':
      return { name, prompt: toText(metadata['initialTask']) };
    case 'TaskResume':
      return readTaskResume(metadata, toRecord(data['previousState']));
    case 'TaskComplete':
      return {
        name,
        result: toText(metadata['result']) || toText(toRecord(payload['turn'])['outputText']),
        ...omitEmpty('command', toText(metadata['command'])),
      };
    case 'UserPromptSubmit':
      return {
        name,
        prompt: toText(data['prompt']),
        attachments: filterTexts(data['attachments']),
      };
    case 'TaskCancel':
      return { name: 'RunEnd', status: 'aborted', reason: readAbortReason(payload, metadata) };
    case 'TaskError':
      return { name: 'RunEnd', status: 'failed', error: readError(toRecord(payload['error'])) };
    case 'SessionShutdown':
      return { name: 'SessionEnd', reason: toText(payload['reason']) || 'other' };
    case 'PreCompact':
      return readPreCompact(data);
    case 'Notification':
      return readNotification(data);
  }
}

function readAbortReason(payload: Fields, metadata: Fields): string {
  const isAbandoned = metadata['completionStatus'] === 'abandoned';
  return toText(payload['reason']) || (isAbandoned ? 'abandoned' : '');
}

function readTool(data: Fields, call: Fields): { callId: string; name: string; input: unknown } {
  const callId = toText(call['id']);
  // The SDK's call has types and structure that the classic string map lacks.
  if (typeof call['name'] === 'string') return { callId, name: call['name'], input: call['input'] };
  const toolName = toText(data['toolName']) || toText(data['tool']);
  return { callId, name: toolName, input: data['parameters'] ?? {} };
}

function readPostToolUse(data: Fields, call: Fields): FiredEvent {
  const success = data['success'] === true;
  return {
    name: success ? 'PostToolUse' : 'PostToolUseFailure',
    tool: readTool(data, call),
    durationMs: toNumber(data['executionTimeMs']),
    result: { ...readOutput(data, call), success, ...(success ? {} : readFailure(data, call)) },
  };
}

/** The SDK's output is a list of rows; the classic text is only their JSON. */
function readOutput(data: Fields, call: Fields): Omit<ToolResult, 'success'> {
  const { output } = call;
  const parts = (Array.isArray(output) ? output : [output]).flatMap(readRow);
  if (parts.length > 0) {
    return { response: undefined, text: parts.map((part) => part.text).join('\n'), parts };
  }
  return {
    response: undefined,
    text: typeof output === 'string' ? output : toText(data['result']),
  };
}

function readRow(row: unknown): ToolResult[] {
  if (!isRecord(row) || typeof row['result'] !== 'string') return [];
  const error = typeof row['error'] === 'string' ? { error: row['error'] } : {};
  return [{ response: undefined, text: row['result'], success: row['success'] === true, ...error }];
}

function readFailure(data: Fields, call: Fields): { error: string } {
  return { error: typeof call['error'] === 'string' ? call['error'] : toText(data['result']) };
}

function readTaskResume(metadata: Fields, previous: Fields): FiredEvent {
  return {
    name: 'TaskResume',
    prompt: toText(metadata['initialTask']),
    lastMessageAt: readTime(previous['lastMessageTs']),
    messageCount: toNumber(previous['messageCount']),
    historyDeleted: toText(previous['conversationHistoryDeleted']) === 'true',
  };
}

function readError(error: Fields): ErrorFacts {
  return {
    name: toText(error['name']) || 'Error',
    message: toText(error['message']),
    ...omitEmpty('stack', toText(error['stack'])),
  };
}

function readPreCompact(data: Fields): FiredEvent {
  return {
    name: 'PreCompact',
    trigger: 'auto',
    strategy: toText(data['compactionStrategy']),
    messageCount: toNumber(data['contextSize']),
    tokensIn: toNumber(data['tokensIn']),
    tokensOut: toNumber(data['tokensOut']),
    tokensInCache: toNumber(data['tokensInCache']),
    tokensOutCache: toNumber(data['tokensOutCache']),
    deletedRange: [toNumber(data['deletedRangeStart']), toNumber(data['deletedRangeEnd'])],
    previousRequestIndex: toNumber(data['previousApiReqIndex']),
    contextJsonPath: toText(data['contextJsonPath']),
    contextRawPath: toText(data['contextRawPath']),
  };
}

function readNotification(data: Fields): FiredEvent {
  return {
    name: 'Notification',
    type: data['event'] === 'task_complete' ? 'task_complete' : 'permission_prompt',
    message: toText(data['message']),
    source: toText(data['source']),
    waiting: data['waitingForUserInput'] === true,
  };
}

function toRecord(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function filterTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function toNumber(value: unknown): number {
  const parsed = typeof value === 'string' ? Number(value) : value;
  return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : 0;
}

function omitEmpty<Key extends string>(key: Key, value: string): { [Each in Key]?: string } {
  const fields: { [Each in Key]?: string } = {};
  if (value !== '') fields[key] = value;
  return fields;
}

/** The data of each event as callers give it, in the shape of the hook's payload. */
export interface FileHookData {
  TaskStart: { taskMetadata: { taskId?: string; ulid?: string; initialTask: string } };
  TaskResume: {
    taskMetadata: { taskId?: string; ulid?: string; initialTask?: string };
    previousState: {
      lastMessageTs: string;
      messageCount: string;
      conversationHistoryDeleted: string;
    };
  };
  TaskCancel: { taskMetadata: { completionStatus: string }; reason?: string };
  TaskComplete: { taskMetadata: { result: string; command?: string } };
  TaskError: { error: { name: string; message: string; stack?: string } };
  PreToolUse: { toolName: string; parameters: Record<string, unknown> };
  PostToolUse: {
    toolName: string;
    parameters: Record<string, unknown>;
    result: string;
    success: boolean;
    executionTimeMs: number;
  };
  UserPromptSubmit: { prompt: string; attachments?: string[] };
  Notification: { event: string; message: string; source?: string; waitingForUserInput?: boolean };
  PreCompact: { contextSize: number; compactionStrategy: string };
  SessionShutdown: { reason: string };
}
