import { HooklineError } from '../base/errors.ts';
import { isRecord, getTypeName } from '../base/json.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import type { EventFacts, EventName, FiredEvent, Moment } from '../hooks/facts.ts';

const TOOL = {
  callId: 'call_1',
  name: 'Write',
  input: { file_path: 'example.txt', content: 'hello\n' },
};
const SWITCH = { fromModel: 'one', toModel: 'another', requestedModel: null, source: 'command' };
const ITEM = { itemId: '1', subject: 'an item' };

/** Example facts for every event. */
const SAMPLES: { readonly [Name in EventName]: EventFacts[Name] } = {
  SessionStart: { source: 'startup' },
  Setup: { trigger: 'init' },
  SessionEnd: { reason: 'other' },
  TaskStart: { prompt: 'an example task' },
  TaskResume: {
    prompt: 'an example task',
    lastMessageAt: 1_767_225_500_000,
    messageCount: 2,
    historyDeleted: false,
  },
  UserPromptSubmit: { prompt: 'an example prompt', attachments: [] },
  UserPromptExpansion: { prompt: 'an example prompt', command: 'example', commandArguments: '' },
  RunStart: { prompt: 'an example prompt' },
  ModelRequest: { request: {} },
  ModelResponse: { response: {}, finishReason: 'stop' },
  PreToolUse: { tool: TOOL },
  PermissionRequest: { tool: TOOL, suggestions: [] },
  PermissionDenied: { tool: TOOL, reason: 'an example reason' },
  PostToolUse: {
    tool: TOOL,
    result: { response: undefined, text: 'done', success: true },
    durationMs: 12,
  },
  PostToolUseFailure: {
    tool: TOOL,
    result: { response: undefined, text: 'failed', success: false, error: 'failed' },
    durationMs: 12,
    denied: false,
  },
  PostToolBatch: { calls: [TOOL] },
  PreCompact: { trigger: 'auto', strategy: 'auto-condense', instructions: null, messageCount: 42 },
  PostCompact: { trigger: 'auto', summary: 'an example summary' },
  SubagentStart: { agentType: 'general-purpose' },
  SubagentStop: { agentType: 'general-purpose', lastText: 'done', again: false },
  Stop: { lastText: 'done', again: false },
  TaskComplete: { result: 'done', command: '' },
  RunEnd: {
    status: 'completed',
    reason: '',
    error: { name: 'Error', message: 'an example error' },
    lastText: 'done',
  },
  Notification: { type: 'permission_prompt', message: 'an example message', waiting: true },
  MessageDisplay: { text: 'an example text', messageId: '1' },
  PreModelSwitch: SWITCH,
  PostModelSwitch: SWITCH,
  TaskCreated: ITEM,
  TaskCompleted: ITEM,
  TeammateIdle: { teammate: 'example' },
  Elicitation: { server: 'example', message: 'an example question' },
  ElicitationResult: { server: 'example', action: 'accept' },
  ConfigChange: { source: 'user_settings', file: '/example/settings.json' },
  InstructionsLoaded: { file: '/example/AGENTS.md', loadReason: 'session_start' },
  CwdChanged: { from: '/example', to: '/example/below' },
  DirectoryAdded: { directory: '/example/other', source: 'slash_command' },
  FileChanged: { file: '/example/file.txt', change: 'change' },
  WorktreeCreate: { worktree: 'example' },
  WorktreeRemove: { path: '/example/worktree' },
};

/** The facts that every event has, with their types. */
const MOMENT_TYPES: { readonly [Key in keyof Moment]: string } = {
  sessionId: 'string',
  taskId: 'string',
  ulid: 'string',
  at: 'number',
  cwd: 'string',
  startDirectory: 'string',
  workspaceRoots: 'array',
  permissionMode: 'string',
  model: 'object',
  effort: 'string',
  agent: 'object',
  iteration: 'number',
  userId: 'string',
  version: 'string',
  transcriptPath: 'string',
  promptId: 'string',
  skills: 'array',
};

const TOOL_TYPES = { mcpServer: 'object' };
const STOP_TYPES = { backgroundTasks: 'array', scheduledPrompts: 'array' };
const SWITCH_TYPES = {
  contextTokens: 'number',
  isCacheWarm: 'boolean',
  cacheLifetime: 'string',
  cacheWriteUsd: 'number',
  pricing: 'string',
};
const ITEM_TYPES = { description: 'string', teammate: 'string', team: 'string' };
const ELICITATION_TYPES = { mode: 'string', elicitationId: 'string' };

/** Optional facts that the samples do not contain. */
const OPTIONAL_TYPES: {
  readonly [Name in EventName]?: { readonly [Key in keyof EventFacts[Name]]?: string };
} = {
  SessionStart: {
    title: 'string',
    secondsSinceLastResponse: 'number',
    contextTokens: 'number',
    isCacheLikelyExpired: 'boolean',
    cacheWriteUsd: 'number',
  },
  UserPromptSubmit: { source: 'string', title: 'string' },
  UserPromptExpansion: { kind: 'string', commandSource: 'string' },
  PreToolUse: TOOL_TYPES,
  PermissionRequest: TOOL_TYPES,
  PermissionDenied: TOOL_TYPES,
  PostToolUse: TOOL_TYPES,
  PostToolUseFailure: { ...TOOL_TYPES, interrupted: 'boolean' },
  SubagentStop: { ...STOP_TYPES, agentTranscriptPath: 'string' },
  Stop: STOP_TYPES,
  PreCompact: {
    tokensIn: 'number',
    tokensOut: 'number',
    tokensInCache: 'number',
    tokensOutCache: 'number',
    deletedRange: 'array',
    previousRequestIndex: 'number',
    contextJsonPath: 'string',
    contextRawPath: 'string',
  },
  RunEnd: { errorClass: 'string', errorDetails: 'string' },
  Notification: { source: 'string', title: 'string' },
  MessageDisplay: { turnId: 'string', index: 'number', isFinal: 'boolean' },
  PreModelSwitch: SWITCH_TYPES,
  PostModelSwitch: SWITCH_TYPES,
  TaskCreated: ITEM_TYPES,
  TaskCompleted: ITEM_TYPES,
  TeammateIdle: { team: 'string' },
  Elicitation: { ...ELICITATION_TYPES, schema: 'object', url: 'string' },
  ElicitationResult: { ...ELICITATION_TYPES, content: 'object' },
  InstructionsLoaded: {
    memoryType: 'string',
    globs: 'array',
    triggerFile: 'string',
    parentFile: 'string',
  },
};

const NULLABLE = new Set([
  'instructions',
  'requestedModel',
  'lastMessageAt',
  'transcriptPath',
  'promptId',
]);

/** Fields that an object fact of the moment must have, even when the caller sets only some. */
const MOMENT_RECORDS: Facts = {
  model: { provider: 'unknown', id: 'unknown' },
  agent: { id: 'agent_1', parentId: null, type: null },
};

type Facts = Readonly<Record<string, unknown>>;

/**
 * Creates an event with these facts; others have example values. Throws for facts that the event does
 * not have, and for wrong types.
 */
export function createSampleEvent(name: EventName, facts: Facts = {}): FiredEvent {
  const sample: Facts = { ...SAMPLES[name] };
  const types = listFactTypes(name, sample);
  const checked = Object.entries(facts).map(([key, value]): [string, unknown] => {
    checkType(name, key, findType(name, key, types), value);
    return [key, completeFact(name, key, { value, example: MOMENT_RECORDS[key] ?? sample[key] })];
  });
  // Every fact has the type that the event's own sample has.
  return { name, ...sample, ...Object.fromEntries(checked) } as unknown as FiredEvent;
}

function listFactTypes(name: EventName, sample: Facts): ReadonlyMap<string, string | null> {
  const sampleTypes = Object.entries(sample).map(([key, value]): [string, string | null] => [
    key,
    value === null ? null : getTypeName(value),
  ]);
  return new Map([
    ...Object.entries(MOMENT_TYPES),
    ...Object.entries(OPTIONAL_TYPES[name] ?? {}),
    ...sampleTypes,
  ]);
}

function findType(
  event: EventName,
  key: string,
  types: ReadonlyMap<string, string | null>,
): string | null {
  const type = types.get(key);
  if (type !== undefined) return type;
  const suggestion = findClosestName(key, [...types.keys()]);
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${event} has no fact "${key}"`,
    hint:
      suggestion === null
        ? `It has: ${[...types.keys()].join(', ')}.`
        : `Did you mean "${suggestion}"?`,
  });
}

function checkType(event: EventName, key: string, expected: string | null, value: unknown): void {
  if (expected === null || expected === getTypeName(value)) return;
  if (value === null && NULLABLE.has(key)) return;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `"${key}" of ${event} should be ${expected}, found ${getTypeName(value)}`,
    hint: `\`hookline hooks fire ${event} --json\` shows an example.`,
  });
}

/** A tool without a name, or a result without a text, would be invalid. */
function completeFact(
  event: EventName,
  key: string,
  { value, example }: { value: unknown; example: unknown },
): unknown {
  if (!isRecord(value) || !isRecord(example)) return value;
  for (const [member, sample] of Object.entries(example)) {
    if (isRecord(sample) || sample === null || sample === undefined || !(member in value)) continue;
    const expected = getTypeName(sample);
    checkType(event, `${key}.${member}`, expected, value[member]);
  }
  return { ...createEmptied(example), ...value };
}

function createEmptied(facts: Facts): Facts {
  return Object.fromEntries(
    Object.entries(facts).map(([member, sample]) => [member, isRecord(sample) ? {} : sample]),
  );
}
