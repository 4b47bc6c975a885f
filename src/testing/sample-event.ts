import { HooklineError } from '../base/errors.ts';
import { typeName } from '../base/json.ts';
import type { EventFacts, EventName, FiredEvent } from '../hooks/facts.ts';

const TOOL = { callId: 'call_1', name: 'Write', input: { file_path: 'example.txt', content: 'hello\n' } };
const SWITCH = { fromModel: 'one', toModel: 'another', requestedModel: null, source: 'command' };
const ITEM = { itemId: '1', subject: 'an item' };

/** For every event, facts as they could be. */
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

const MOMENT_TYPES: Readonly<Record<string, string>> = {
  sessionId: 'string',
  taskId: 'string',
  ulid: 'string',
  at: 'number',
  cwd: 'string',
  workspaceRoots: 'array',
  permissionMode: 'string',
  model: 'object',
  agent: 'object',
  iteration: 'number',
  userId: 'string',
  version: 'string',
};

/** An event with these facts; what they do not say is an example. Facts of the wrong type are refused. */
export function sampleEvent(
  name: EventName,
  facts: Readonly<Record<string, unknown>> = {},
): FiredEvent {
  const sample: Readonly<Record<string, unknown>> = { ...SAMPLES[name] };
  for (const [key, value] of Object.entries(facts)) checkType(name, key, { value, sample });
  // Every fact has the type that the event's own sample has.
  return { name, ...sample, ...facts } as unknown as FiredEvent;
}

function checkType(
  event: EventName,
  key: string,
  { value, sample }: { value: unknown; sample: Readonly<Record<string, unknown>> },
): void {
  const known = sample[key];
  const expected = MOMENT_TYPES[key] ?? (known === undefined || known === null ? null : typeName(known));
  if (expected === null || expected === typeName(value)) return;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `"${key}" of ${event} should be ${expected}, found ${typeName(value)}`,
    hint: `\`hookline hooks fire ${event} --json\` shows an example.`,
  });
}
