import { describe, expect, test } from 'vitest';
import {
  FILE_HOOK_NAMES,
  FILE_HOOKS,
  type FileHookName,
  type Profile,
} from '../../../src/dialects/cline-files/events.ts';
import { encodePayload } from '../../../src/dialects/cline-files/payload.ts';
import type { FiredEvent } from '../../../src/hooks/facts.ts';
import { eventOf, payloadOf, payloadsOf } from './events.ts';

const WHEN = '2026-01-01T00:00:00.123Z';

function common(name: FileHookName, profile: Profile): object {
  const sdk = FILE_HOOKS[name].sdkName;
  return {
    clineVersion: '1.2.3',
    hookName: profile === 'sdk' ? sdk : name,
    hookNames: { classic: name, sdk },
    timestamp: profile === 'sdk' ? WHEN : '1767225600123',
    taskId: 't',
    workspaceRoots: ['/ws'],
    workspaceInfo: { rootPath: '/ws', hint: 'ws' },
    userId: 'u',
    model: { provider: 'p', slug: 'm' },
    sessionContext: { rootSessionId: 's' },
    agent_id: 'a',
    parent_agent_id: null,
    iteration: 1,
    cwd: '/ws',
    mode: 'act',
  };
}

const TASK = { taskId: 't', ulid: '01J' };

/** The tool under the names that no Cline sends. */
function aliases(name: string, input: object): object {
  return { tool_name: name, tool_input: input, toolName: name, tool: name };
}

const RUNS_TESTS = { command: 'npm test', requires_approval: false };
const SAYS_HI = { command: 'echo hi', requires_approval: false };

interface Golden {
  readonly name: FileHookName;
  readonly event: FiredEvent;
  readonly classic: object;
  /** Absent when both generations read the same. */
  readonly sdk?: object;
}

const GOLDEN: readonly Golden[] = [
  {
    name: 'TaskStart',
    event: { name: 'TaskStart', prompt: 'Fix the bug' },
    classic: { taskStart: { taskMetadata: { ...TASK, initialTask: 'Fix the bug' } } },
  },
  {
    name: 'TaskResume',
    event: {
      name: 'TaskResume',
      prompt: '',
      lastMessageAt: 1_767_225_500_000,
      messageCount: 42,
      historyDeleted: false,
    },
    classic: {
      taskResume: {
        taskMetadata: { ...TASK, initialTask: '' },
        previousState: {
          lastMessageTs: '1767225500000',
          messageCount: '42',
          conversationHistoryDeleted: 'false',
        },
      },
    },
  },
  {
    name: 'TaskCancel',
    event: { name: 'RunEnd', status: 'aborted', reason: 'Ctrl-C' },
    classic: {
      taskCancel: { taskMetadata: { ...TASK, completionStatus: 'cancelled' } },
      reason: 'Ctrl-C',
    },
  },
  {
    name: 'TaskComplete',
    event: { name: 'TaskComplete', result: 'final text' },
    classic: {
      taskComplete: { taskMetadata: { ...TASK, result: 'final text', command: '' } },
      turn: { outputText: 'final text', status: 'completed' },
    },
  },
  {
    name: 'TaskError',
    event: {
      name: 'RunEnd',
      status: 'failed',
      error: { name: 'Error', message: 'bad', stack: 's' },
    },
    classic: { error: { name: 'Error', message: 'bad', stack: 's' } },
  },
  {
    name: 'PreToolUse',
    event: {
      name: 'PreToolUse',
      tool: { callId: 'c1', name: 'Bash', input: { command: 'npm test' } },
    },
    classic: {
      ...aliases('execute_command', RUNS_TESTS),
      preToolUse: {
        toolName: 'execute_command',
        tool: 'execute_command',
        parameters: { command: 'npm test', requires_approval: 'false' },
      },
      tool_call: { id: 'c1', name: 'run_commands', input: { commands: ['npm test'] } },
    },
    sdk: {
      ...aliases('run_commands', { commands: ['npm test'] }),
      preToolUse: {
        toolName: 'run_commands',
        tool: 'run_commands',
        parameters: { commands: '["npm test"]' },
      },
      tool_call: { id: 'c1', name: 'run_commands', input: { commands: ['npm test'] } },
    },
  },
  {
    name: 'PostToolUse',
    event: {
      name: 'PostToolUse',
      tool: { callId: 'c1', name: 'run_commands', input: { commands: ['echo hi'] } },
      result: { response: undefined, text: 'hi\n', success: true },
      durationMs: 10.4,
    },
    classic: {
      ...aliases('execute_command', SAYS_HI),
      postToolUse: {
        toolName: 'execute_command',
        tool: 'execute_command',
        parameters: { command: 'echo hi', requires_approval: 'false' },
        result: 'hi\n',
        success: true,
        executionTimeMs: 10,
      },
      tool_result: {
        id: 'c1',
        name: 'run_commands',
        input: { commands: ['echo hi'] },
        output: [{ query: 'echo hi', result: 'hi\n', success: true }],
        durationMs: 10,
        startedAt: '2026-01-01T00:00:00.112Z',
        endedAt: WHEN,
      },
    },
    sdk: {
      ...aliases('run_commands', { commands: ['echo hi'] }),
      postToolUse: {
        toolName: 'run_commands',
        tool: 'run_commands',
        parameters: { commands: '["echo hi"]' },
        result: '[{"query":"echo hi","result":"hi\\n","success":true}]',
        success: true,
        executionTimeMs: 10,
      },
      tool_result: {
        id: 'c1',
        name: 'run_commands',
        input: { commands: ['echo hi'] },
        output: [{ query: 'echo hi', result: 'hi\n', success: true }],
        durationMs: 10,
        startedAt: '2026-01-01T00:00:00.112Z',
        endedAt: WHEN,
      },
    },
  },
  {
    name: 'UserPromptSubmit',
    event: { name: 'UserPromptSubmit', prompt: '' },
    classic: { userPromptSubmit: { prompt: '', attachments: [] } },
  },
  {
    name: 'Notification',
    event: {
      name: 'Notification',
      type: 'permission_prompt',
      message: 'May I?',
      source: 'tool',
      waiting: true,
    },
    classic: {
      notification: {
        event: 'user_attention',
        source: 'tool',
        message: 'May I?',
        messageTruncated: false,
        waitingForUserInput: true,
        requiresUserAction: true,
        eventVersion: '1',
        eventId: '01J-1767225600123',
        sourceType: 'ask',
        sourceId: 'tool',
        severity: 'info',
      },
    },
  },
  {
    name: 'PreCompact',
    event: {
      name: 'PreCompact',
      trigger: 'auto',
      strategy: 'standard-truncation-lastquarter',
      messageCount: 120,
      tokensIn: 180_000,
      tokensOut: 900,
      tokensInCache: 1000,
      tokensOutCache: 2000,
      deletedRange: [2, 77],
      previousRequestIndex: 57,
      contextJsonPath: '/t/history.json',
      contextRawPath: '/t/history.txt',
    },
    classic: {
      preCompact: {
        ...TASK,
        contextSize: 120,
        messagesToCompact: 120,
        compactionStrategy: 'standard-truncation-lastquarter',
        previousApiReqIndex: 57,
        tokensIn: 180_000,
        tokensOut: 900,
        tokensInCache: 1000,
        tokensOutCache: 2000,
        deletedRangeStart: 2,
        deletedRangeEnd: 77,
        contextJsonPath: '/t/history.json',
        contextRawPath: '/t/history.txt',
      },
    },
  },
  {
    name: 'SessionShutdown',
    event: { name: 'SessionEnd', reason: 'other' },
    classic: { reason: 'other' },
  },
];

describe('whole payloads', () => {
  test('there is a golden one for every name', () => {
    expect(GOLDEN.map(({ name }) => name).toSorted()).toEqual(FILE_HOOK_NAMES.toSorted());
  });

  test.each(GOLDEN)('$name, classic', ({ name, event, classic }) => {
    expect(payloadOf(event, name, 'classic')).toEqual({ ...common(name, 'classic'), ...classic });
  });

  test.each(GOLDEN)('$name, SDK', ({ name, event, classic, sdk }) => {
    expect(payloadOf(event, name, 'sdk')).toEqual({ ...common(name, 'sdk'), ...(sdk ?? classic) });
  });

  test.each(GOLDEN)('$name is one line of compact JSON', ({ name, event }) => {
    const input = { event: eventOf(event), tool: null };
    const text = encodePayload(input, name, 'classic');
    expect(text).toBe(JSON.stringify(JSON.parse(text)));
    expect(text).not.toContain('\n');
  });
});

describe('nothing is left out because it is falsy', () => {
  test('a failed tool call', () => {
    const event: FiredEvent = {
      name: 'PostToolUseFailure',
      tool: { callId: '', name: 'Bash', input: {} },
      result: { response: undefined, text: '', success: false, error: '' },
      durationMs: 0,
    };
    expect(payloadOf(event, 'PostToolUse', 'classic')).toMatchObject({
      postToolUse: { parameters: {}, result: '', success: false, executionTimeMs: 0 },
      tool_result: { id: '', error: '', durationMs: 0 },
    });
  });

  test('a compaction of which nothing is known', () => {
    const event: FiredEvent = { name: 'PreCompact', trigger: 'auto' };
    expect(payloadOf(event, 'PreCompact', 'classic')).toMatchObject({
      preCompact: {
        ...TASK,
        contextSize: 0,
        messagesToCompact: 0,
        compactionStrategy: 'auto-condense',
        previousApiReqIndex: 0,
        tokensIn: 0,
        tokensOut: 0,
        tokensInCache: 0,
        tokensOutCache: 0,
        deletedRangeStart: 0,
        deletedRangeEnd: 0,
        contextJsonPath: '',
        contextRawPath: '',
      },
    });
  });

  test('a session without roots, ids or a version', () => {
    const event: FiredEvent = {
      name: 'SessionEnd',
      reason: '',
      taskId: '',
      version: '',
      workspaceRoots: [],
      iteration: 0,
      cwd: '/somewhere/else',
    };
    expect(payloadOf(event, 'SessionShutdown', 'classic')).toMatchObject({
      taskId: '',
      clineVersion: '',
      workspaceRoots: [],
      workspaceInfo: { rootPath: '/somewhere/else', hint: 'else' },
      iteration: 0,
      reason: '',
    });
  });

  test('an error and a reason that are missing', () => {
    expect(payloadOf({ name: 'RunEnd', status: 'failed' }, 'TaskError', 'sdk')).toMatchObject({
      error: null,
    });
    expect(payloadOf({ name: 'RunEnd', status: 'aborted' }, 'TaskCancel', 'sdk')).toMatchObject({
      reason: '',
    });
  });

  test('the last message of a resumed task when it is unknown', () => {
    const event: FiredEvent = {
      name: 'TaskResume',
      prompt: '',
      lastMessageAt: null,
      messageCount: 0,
      historyDeleted: true,
    };
    expect(payloadOf(event, 'TaskResume', 'classic')).toMatchObject({
      taskResume: {
        previousState: {
          lastMessageTs: '',
          messageCount: '0',
          conversationHistoryDeleted: 'true',
        },
      },
    });
  });
});

describe('particular values', () => {
  test.each(['task_complete', 'agent_completed'])('a task that is done (%s)', (type) => {
    const event: FiredEvent = { name: 'Notification', type, message: 'done' };
    expect(payloadOf(event, 'Notification', 'classic')).toMatchObject({
      notification: {
        event: 'task_complete',
        source: 'attempt_completion',
        sourceId: 'attempt_completion',
        sourceType: 'tool',
        waitingForUserInput: false,
        requiresUserAction: false,
      },
    });
  });

  test('a long notification is cut and says so', () => {
    const event: FiredEvent = { name: 'Notification', type: 'x', message: 'm'.repeat(8001) };
    expect(payloadOf(event, 'Notification', 'classic')).toMatchObject({
      notification: { message: `${'m'.repeat(8000)}\n...[truncated]`, messageTruncated: true },
    });
  });

  test('plan mode', () => {
    const event: FiredEvent = { name: 'TaskStart', prompt: 'p', permissionMode: 'plan' };
    expect(payloadOf(event, 'TaskStart', 'classic')).toMatchObject({ mode: 'plan' });
  });

  test('a sub-agent names its parent', () => {
    const event: FiredEvent = {
      name: 'TaskStart',
      prompt: 'p',
      agent: { id: 'child', parentId: 'parent', type: null },
    };
    expect(payloadOf(event, 'TaskStart', 'sdk')).toMatchObject({
      agent_id: 'child',
      parent_agent_id: 'parent',
    });
  });

  test('parameters are texts; what is none is JSON', () => {
    const input = {
      text: 'a',
      flag: false,
      none: null,
      list: [1, 'b'],
      nested: { x: 1 },
      gone: undefined,
    };
    const event: FiredEvent = { name: 'PreToolUse', tool: { callId: 'c', name: 'my_tool', input } };
    expect(payloadOf(event, 'PreToolUse', 'classic')).toMatchObject({
      preToolUse: {
        toolName: 'my_tool',
        parameters: { text: 'a', flag: 'false', none: 'null', list: '[1,"b"]', nested: '{"x":1}' },
      },
      tool_call: { name: 'my_tool' },
    });
  });

  test.each([null, 'text', 7, ['a']])('the input %j has no parameters', (input) => {
    const event: FiredEvent = { name: 'PreToolUse', tool: { callId: 'c', name: 'my_tool', input } };
    expect(payloadOf(event, 'PreToolUse', 'classic')).toMatchObject({
      preToolUse: { parameters: {} },
      tool_call: { input },
    });
  });

  test('lone surrogates survive as escapes', () => {
    const input = { event: eventOf({ name: 'TaskStart', prompt: '\ud800' }), tool: null };
    const text = encodePayload(input, 'TaskStart', 'classic');
    expect(text).toContain('"\\ud800"');
  });

  test('an error of the tool is text, never [object Object]', () => {
    const event: FiredEvent = {
      name: 'PostToolUseFailure',
      tool: { callId: 'c', name: 'Bash', input: { command: 'false' } },
      result: { response: { code: 1 }, text: 'exit 1', success: false, error: 'exit 1' },
      durationMs: 3,
    };
    expect(payloadOf(event, 'PostToolUse', 'sdk')).toMatchObject({
      postToolUse: { success: false },
      tool_result: { error: 'exit 1' },
    });
  });
});

describe('a call of several parts', () => {
  const block = (from: string, to: string): string =>
    `------- SEARCH\n${from}\n=======\n${to}\n+++++++ REPLACE`;
  const twoBlocks: FiredEvent = {
    name: 'PreToolUse',
    tool: {
      callId: 'c',
      name: 'replace_in_file',
      input: { path: 'a.ts', diff: `${block('a', 'b')}\n${block('c', 'd')}` },
    },
  };

  test('gives a hook of the SDK its own part, in both fields', () => {
    expect(payloadsOf(twoBlocks, 'PreToolUse', 'sdk')).toMatchObject([
      {
        preToolUse: { parameters: { old_text: 'a', new_text: 'b' } },
        tool_call: { name: 'editor', input: { old_text: 'a', new_text: 'b' } },
      },
      {
        preToolUse: { parameters: { old_text: 'c', new_text: 'd' } },
        tool_call: { name: 'editor', input: { old_text: 'c', new_text: 'd' } },
      },
    ]);
  });

  test('gives a classic hook its part, and the whole call in the SDK’s vocabulary', () => {
    const commands = { commands: ['a', 'b'] };
    const event: FiredEvent = {
      name: 'PostToolUse',
      tool: { callId: 'c', name: 'run_commands', input: commands },
      result: {
        response: undefined,
        text: 'A\nB',
        success: true,
        parts: [
          { response: undefined, text: 'A', success: true },
          { response: undefined, text: 'B', success: true },
        ],
      },
      durationMs: 1,
    };
    const output = [
      { query: 'a', result: 'A', success: true },
      { query: 'b', result: 'B', success: true },
    ];
    expect(payloadsOf(event, 'PostToolUse', 'classic')).toMatchObject([
      {
        postToolUse: { parameters: { command: 'a' }, result: 'A' },
        tool_result: { input: commands, output },
      },
      {
        postToolUse: { parameters: { command: 'b' }, result: 'B' },
        tool_result: { input: commands, output },
      },
    ]);
  });
});
