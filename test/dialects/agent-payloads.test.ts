import { describe, expect, it } from 'vitest';
import { readForeignPayload } from '../../src/dialects/index.ts';
import { readRecordedPayloads } from './recorded-payloads.ts';

const UNMAPPED = ['BeforeToolSelection', 'userPromptTransformed', 'init', 'event:session.updated'];

describe('the recorded payloads of the real programs', () => {
  const [known, unknown] = [true, false].map((isKnown) =>
    readRecordedPayloads().filter(({ name }) => UNMAPPED.includes(name) !== isKnown),
  );

  it('are read as these events', async () => {
    const events = known?.map(({ agent, name, payload }) => {
      const event = readForeignPayload(agent, payload);
      return `${agent} ${name}\n${JSON.stringify(event, null, 1)}\n`;
    });
    await expect(events?.join('\n')).toMatchFileSnapshot('./agent-payloads/recorded.txt');
  });

  it.each(unknown ?? [])(
    'are refused where they mean no event: $agent $name',
    ({ agent, payload }) => {
      expect(() => readForeignPayload(agent, payload)).toThrow(
        expect.objectContaining({ code: 'PAYLOAD_INVALID' }),
      );
    },
  );
});

const CURSOR = {
  conversation_id: 'c1',
  generation_id: 'g1',
  model: 'gpt-5',
  cursor_version: '2.0.0',
  workspace_roots: ['/w'],
  user_email: null,
  transcript_path: null,
};
const CURSOR_MOMENT = {
  sessionId: 'c1',
  promptId: 'g1',
  cwd: '/w',
  model: { provider: 'cursor', id: 'gpt-5' },
  workspaceRoots: ['/w'],
};
const CLAUDE = { session_id: 's1', cwd: '/w' };
const MOMENT = { sessionId: 's1', cwd: '/w' };
const key = expect.stringMatching(/^cursor-[\da-f]{24}$/u);

type Fields = Readonly<Record<string, unknown>>;

const DOCUMENTED: readonly [agent: string, payload: Fields, event: Fields][] = [
  [
    'codex',
    { ...CLAUDE, hook_event_name: 'Interrupt', turn_id: 't1', model: 'gpt-5' },
    {
      ...MOMENT,
      promptId: 't1',
      model: { provider: 'openai', id: 'gpt-5' },
      name: 'RunEnd',
      status: 'aborted',
      reason: 'interrupted',
    },
  ],
  [
    'codex',
    { ...CLAUDE, hook_event_name: 'SessionStart', source: 'something-new' },
    { ...MOMENT, name: 'SessionStart', source: 'startup' },
  ],
  [
    'codex',
    {
      ...CLAUDE,
      hook_event_name: 'SubagentStop',
      agent_id: 'a1',
      agent_type: 'explorer',
      stop_hook_active: true,
      last_assistant_message: 'done',
      agent_transcript_path: '/t',
    },
    {
      ...MOMENT,
      agent: { id: 'a1', parentId: 's1', type: 'explorer' },
      name: 'SubagentStop',
      agentType: 'explorer',
      lastText: 'done',
      again: true,
      agentTranscriptPath: '/t',
    },
  ],
  [
    'gemini',
    {
      ...CLAUDE,
      hook_event_name: 'Notification',
      notification_type: 'ToolPermission',
      message: 'may I?',
    },
    { ...MOMENT, name: 'Notification', type: 'permission_prompt', message: 'may I?' },
  ],
  [
    'gemini',
    {
      ...CLAUDE,
      hook_event_name: 'BeforeTool',
      tool_name: 'mcp_my_server_do_it',
      tool_input: { x: 1 },
      mcp_context: { server_name: 'my_server', tool_name: 'do_it' },
    },
    {
      ...MOMENT,
      name: 'PreToolUse',
      tool: { callId: '', name: 'mcp__my_server__do_it', input: { x: 1 }, vocabulary: 'gemini' },
    },
  ],
  [
    'copilot',
    { sessionId: 's1', timestamp: 9, cwd: '/w', error: { message: 'no net', name: 'E' } },
    {
      ...MOMENT,
      at: 9,
      name: 'RunEnd',
      status: 'failed',
      error: { name: 'Error', message: 'no net' },
    },
  ],
  [
    'copilot',
    {
      sessionId: 's1',
      timestamp: 9,
      cwd: '/w',
      toolName: 'view',
      toolArgs: '{"path":"a"}',
      toolResult: { resultType: 'failure', textResultForLlm: 'no file' },
    },
    {
      ...MOMENT,
      at: 9,
      name: 'PostToolUseFailure',
      tool: { callId: '', name: 'view', input: { path: 'a' }, vocabulary: 'copilot' },
      result: { response: undefined, text: 'no file', success: false, error: 'no file' },
      durationMs: 0,
    },
  ],
  [
    'qwen',
    { ...CLAUDE, hook_event_name: 'StopFailure', error: 'rate_limit', permission_mode: 'yolo' },
    {
      ...MOMENT,
      permissionMode: 'bypassPermissions',
      name: 'RunEnd',
      status: 'failed',
      error: { name: 'Error', message: 'rate_limit' },
      errorClass: 'rate_limit',
    },
  ],
  [
    'qwen',
    { ...CLAUDE, hook_event_name: 'TodoCreated', todo_id: '1', todo_content: 'test it' },
    { ...MOMENT, name: 'TaskCreated', itemId: '1', subject: 'test it' },
  ],
  [
    'cursor',
    {
      ...CURSOR,
      hook_event_name: 'beforeMCPExecution',
      tool_name: 'create_issue',
      tool_input: '{"title":"x"}',
      command: 'npx server',
    },
    {
      ...CURSOR_MOMENT,
      name: 'PreToolUse',
      tool: { callId: key, name: 'MCP:create_issue', input: { title: 'x' }, vocabulary: 'cursor' },
    },
  ],
  [
    'cursor',
    { ...CURSOR, hook_event_name: 'beforeReadFile', file_path: '/w/a', content: 'text' },
    {
      ...CURSOR_MOMENT,
      name: 'PreToolUse',
      tool: { callId: key, name: 'Read', input: { file_path: '/w/a' }, vocabulary: 'cursor' },
    },
  ],
  [
    'cursor',
    {
      ...CURSOR,
      hook_event_name: 'afterFileEdit',
      file_path: '/w/a',
      edits: [{ old_string: 'a', new_string: 'b' }],
    },
    {
      ...CURSOR_MOMENT,
      name: 'PostToolUse',
      tool: {
        callId: key,
        name: 'MultiEdit',
        input: { file_path: '/w/a', edits: [{ old_string: 'a', new_string: 'b' }] },
        vocabulary: 'cursor',
      },
      result: {
        response: undefined,
        text: '{"old_string":"a","new_string":"b"}',
        success: true,
      },
      durationMs: 0,
    },
  ],
  [
    'cursor',
    { ...CURSOR, hook_event_name: 'beforeSubmitPrompt', prompt: 'hi', attachments: [] },
    { ...CURSOR_MOMENT, name: 'UserPromptSubmit', prompt: 'hi' },
  ],
  [
    'cursor',
    { ...CURSOR, hook_event_name: 'stop', status: 'completed', loop_count: 1 },
    { ...CURSOR_MOMENT, name: 'Stop', lastText: '', again: true },
  ],
  [
    'cursor',
    {
      ...CURSOR,
      hook_event_name: 'subagentStart',
      subagent_id: 'a1',
      subagent_type: 'explore',
      task: 'look',
    },
    {
      ...CURSOR_MOMENT,
      agent: { id: 'a1', parentId: 'c1', type: 'explore' },
      name: 'SubagentStart',
      agentType: 'explore',
    },
  ],
  [
    'droid',
    {
      ...CLAUDE,
      hook_event_name: 'PreCompact',
      permission_mode: 'spec',
      trigger: 'manual',
      custom_instructions: 'short',
    },
    {
      ...MOMENT,
      permissionMode: 'plan',
      name: 'PreCompact',
      trigger: 'manual',
      instructions: 'short',
    },
  ],
  [
    'opencode',
    {
      hook: 'event:session.created',
      directory: '/w',
      at: 3,
      input: { sessionID: 'child', info: { id: 'child', parentID: 's1', agent: 'explore' } },
      output: null,
    },
    {
      ...MOMENT,
      at: 3,
      agent: { id: 'child', parentId: 's1', type: 'explore' },
      name: 'SubagentStart',
      agentType: 'explore',
    },
  ],
  [
    'opencode',
    {
      hook: 'event:session.error',
      directory: '/w',
      input: { sessionID: 's1', error: { name: 'APIError', data: { message: 'no' } } },
    },
    { ...MOMENT, name: 'RunEnd', status: 'failed', error: { name: 'APIError', message: 'no' } },
  ],
];

describe('documented payloads that were not recorded', () => {
  it.each(DOCUMENTED)('%s %j', (agent, payload, event) => {
    expect(readForeignPayload(agent, payload)).toEqual(event);
  });
});

describe('one call of Cursor', () => {
  const read = (payload: Fields) => {
    const event = readForeignPayload('cursor', { ...CURSOR, ...payload });
    return 'tool' in event ? event.tool.callId : null;
  };
  const shell = { hook_event_name: 'preToolUse', tool_name: 'Shell', tool_use_id: 't1' };

  it('has one id in all of its events', () => {
    const ids = [
      read({ ...shell, tool_input: { command: 'ls', working_directory: '/w' } }),
      read({ hook_event_name: 'beforeShellExecution', command: 'ls', cwd: '/w', sandbox: false }),
      read({ hook_event_name: 'afterShellExecution', command: 'ls', output: 'a', duration: 3 }),
    ];
    expect(new Set(ids).size).toBe(1);
    const files = [
      read({ hook_event_name: 'preToolUse', tool_name: 'Read', tool_input: { path: 'a' } }),
      read({ hook_event_name: 'beforeReadFile', file_path: '/w/a', content: '' }),
    ];
    expect(new Set(files).size).toBe(1);
    expect(files[0]).not.toBe(ids[0]);
  });

  it('has another id than the same call of another turn', () => {
    const one = read({ ...shell, tool_input: { command: 'ls' } });
    const other = read({ ...shell, generation_id: 'g2', tool_input: { command: 'ls' } });
    expect(one).not.toBe(other);
  });
});

describe('a payload that cannot be read', () => {
  it.each([
    ['codex', null, 'not a payload of a Codex hook: it should be an object, found null'],
    ['gemini', {}, '"hook_event_name" should be a text, found nothing'],
    ['copilot', { sessionId: 's' }, '"hook_event_name" should be a text, found nothing'],
    ['cursor', { hook_event_name: 'preToolUse' }, '"tool_name" should be a text, found nothing'],
    [
      'droid',
      { hook_event_name: 'PreToolUs' },
      '"hook_event_name" should name an event of Droid, found "PreToolUs"; did you mean PreToolUse?',
    ],
    ['opencode', { hook: 'tool.execute' }, '"hook" should name an event of opencode'],
    ['qwen', { hook_event_name: 'PreToolUse', tool_name: 4 }, '"tool_name" should be a text'],
  ])('says what was expected: %s %j', (agent, payload, message) => {
    expect(() => readForeignPayload(agent, payload)).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_INVALID',
        message: expect.stringContaining(message),
      }),
    );
  });
});
