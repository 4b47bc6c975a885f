import { encodePayload } from '../../src/dialects/cline-files/payload.ts';
import {
  FILE_HOOK_NAMES,
  FILE_HOOKS,
  type FileHookName,
  type Profile,
} from '../../src/dialects/cline-files/events.ts';
import { EventViews } from '../../src/hooks/event-views.ts';
import type { EventName, HookEvent, Moment } from '../../src/hooks/facts.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';

export interface SentPayload {
  readonly title: string;
  readonly name: FileHookName;
  readonly profile: Profile;
  readonly payload: Record<string, unknown>;
}

type Facts = Readonly<Record<string, unknown>>;

interface Moments {
  readonly name: FileHookName;
  readonly event: EventName;
  readonly facts: Facts;
}

const PROFILES: readonly Profile[] = ['classic', 'sdk'];

export const MOMENT: Moment = {
  sessionId: 'session-1',
  taskId: '1767225600000',
  ulid: '01KDVTNV00EXAMPLEEXAMPLE00',
  at: 1_767_225_600_123,
  cwd: '/home/someone/project',
  workspaceRoots: ['/home/someone/project'],
  permissionMode: 'default',
  model: { provider: 'anthropic', id: 'claude-example' },
  agent: { id: 'agent-1', parentId: null, type: null },
  iteration: 3,
  userId: 'someone',
  version: '0.1.0',
  transcriptPath: null,
  promptId: null,
};

/** An ordinary payload for every hook at each of its events, in both profiles. */
export function goldenPayloads(): SentPayload[] {
  return FILE_HOOK_NAMES.flatMap((name) =>
    FILE_HOOKS[name].events.flatMap((event) =>
      sentPayloads({ name, event, facts: FILE_HOOKS[name].facts }),
    ),
  );
}

/** Payloads of events that are not ordinary: empty, plural, long, failed, of unknown tools. */
export function oddPayloads(): SentPayload[] {
  return [...ODD_TOOLS.flatMap(toolMoments), ...ODD_MOMENTS].flatMap(sentPayloads);
}

function sentPayloads({ name, event, facts }: Moments): SentPayload[] {
  const fired: HookEvent = { ...MOMENT, ...createSampleEvent(event, facts) };
  return PROFILES.flatMap((profile) =>
    payloadsOf(fired, name, profile).map((payload) => ({
      title: [name, ...(event === name ? [] : [event]), profile].join('.'),
      name,
      profile,
      payload,
    })),
  );
}

/** What the engine sends to a hook of this name: one payload for every part that it sees. */
export function payloadsOf(
  event: HookEvent,
  name: FileHookName,
  profile: Profile,
): Record<string, unknown>[] {
  return new EventViews(event, undefined)
    .getView(profile)
    .inputs.map((input) => JSON.parse(encodePayload(input, name, profile)));
}

const ODD_TOOLS: readonly { name: string; input: unknown }[] = [
  { name: 'run_commands', input: { commands: ['echo one', 'echo two'] } },
  { name: 'read_files', input: { files: [{ path: 'a.txt', start_line: 1 }, { path: 'b.txt' }] } },
  {
    name: 'apply_patch',
    input: { input: '*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch' },
  },
  { name: 'Bash', input: { command: 'ls', timeout: 5000, description: '' } },
  { name: 'mcp__server__tool', input: { deep: { list: [1, null, { nested: true }] } } },
  { name: 'tool_of_nobody', input: ['not', 'an', 'object'] },
  { name: 'tool_of_nobody', input: 'only text' },
  { name: 'tool_of_nobody', input: null },
  { name: 'tool_of_nobody', input: undefined },
  { name: '', input: { ['__proto__x']: 1, 'key with spaces': '"quoted"\n' } },
];

function toolMoments({ name, input }: { name: string; input: unknown }): Moments[] {
  const tool = { callId: 'call_7', name, input };
  const parts = [
    { response: undefined, text: 'first', success: true },
    { response: undefined, text: 'second', success: false, error: 'second failed' },
  ];
  const failed = { response: { any: ['thing'] }, text: '', success: false, error: '', parts };
  return [
    { name: 'PreToolUse', event: 'PreToolUse', facts: { tool } },
    { name: 'PostToolUse', event: 'PostToolUse', facts: { tool, durationMs: 0.4 } },
    { name: 'PostToolUse', event: 'PostToolUseFailure', facts: { tool, result: failed } },
  ];
}

const ODD_MOMENTS: readonly Moments[] = [
  {
    name: 'UserPromptSubmit',
    event: 'UserPromptSubmit',
    facts: { prompt: '', attachments: ['/a b.png'], workspaceRoots: [], permissionMode: 'plan' },
  },
  {
    name: 'TaskStart',
    event: 'TaskStart',
    facts: {
      prompt: '',
      agent: { id: 'agent-2', parentId: 'agent-1', type: 'reviewer' },
      version: '',
    },
  },
  {
    name: 'TaskResume',
    event: 'TaskResume',
    facts: { lastMessageAt: null, messageCount: 0, historyDeleted: true },
  },
  { name: 'TaskCancel', event: 'RunEnd', facts: { status: 'aborted', reason: 'Ctrl-C' } },
  {
    name: 'TaskError',
    event: 'RunEnd',
    facts: {
      status: 'failed',
      error: { name: 'Error', message: 'no', stack: 'Error: no\n  at x' },
    },
  },
  { name: 'TaskComplete', event: 'TaskComplete', facts: { result: '', command: 'npm start' } },
  {
    name: 'Notification',
    event: 'Notification',
    facts: { type: 'agent_completed', message: 'x'.repeat(9000), waiting: false },
  },
  {
    name: 'PreCompact',
    event: 'PreCompact',
    facts: {
      trigger: 'manual',
      tokensIn: 180_000,
      tokensOut: 900,
      tokensInCache: 1000,
      tokensOutCache: 2000,
      deletedRange: [2, 77],
      previousRequestIndex: 57,
      contextJsonPath: '/tmp/a.json',
      contextRawPath: '/tmp/a.txt',
    },
  },
  { name: 'SessionShutdown', event: 'SessionEnd', facts: { reason: '' } },
];
