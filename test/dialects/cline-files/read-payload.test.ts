import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FileHookName, Profile } from '../../../src/dialects/cline-files/events.ts';
import { readEventFromData, readPayload } from '../../../src/dialects/cline-files/read-payload.ts';
import type { FiredEvent } from '../../../src/hooks/facts.ts';
import { MOMENT } from '../../hooks/handlers.ts';
import { payloadOf } from './events.ts';

const times = fc.integer({ min: 0, max: 8_640_000_000_000_000 });
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
const inputs = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), json);
const calls = fc.oneof(
  fc.record({ callId: fc.string(), name: fc.constant('my_tool'), input: inputs }),
  fc.record({
    callId: fc.string(),
    name: fc.constant('run_commands'),
    input: fc.record({
      commands: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 1 }),
    }),
  }),
);

interface Told {
  readonly name: FileHookName;
  readonly event: FiredEvent;
}

/** Events whose facts a payload can carry whole. */
const firedEvents: fc.Arbitrary<Told> = fc.oneof(
  fc.string().map((prompt): Told => ({ name: 'TaskStart', event: { name: 'TaskStart', prompt } })),
  fc
    .record({
      prompt: fc.string(),
      lastMessageAt: fc.option(times),
      messageCount: fc.nat(),
      historyDeleted: fc.boolean(),
    })
    .map((facts): Told => ({ name: 'TaskResume', event: { name: 'TaskResume', ...facts } })),
  fc.string().map((reason): Told => ({
    name: 'TaskCancel',
    event: { name: 'RunEnd', status: 'aborted', reason },
  })),
  fc
    .record({ result: fc.string(), command: fc.string({ minLength: 1 }) })
    .map((facts): Told => ({ name: 'TaskComplete', event: { name: 'TaskComplete', ...facts } })),
  fc
    .record({
      name: fc.string({ minLength: 1 }),
      message: fc.string(),
      stack: fc.string({ minLength: 1 }),
    })
    .map((error): Told => ({
      name: 'TaskError',
      event: { name: 'RunEnd', status: 'failed', error },
    })),
  calls.map((tool): Told => ({ name: 'PreToolUse', event: { name: 'PreToolUse', tool } })),
  fc.record({ prompt: fc.string(), attachments: fc.array(fc.string()) }).map((facts): Told => ({
    name: 'UserPromptSubmit',
    event: { name: 'UserPromptSubmit', ...facts },
  })),
  fc
    .record({
      type: fc.constantFrom('task_complete', 'permission_prompt'),
      message: fc.string(),
      source: fc.string(),
      waiting: fc.boolean(),
    })
    .map((facts): Told => ({ name: 'Notification', event: { name: 'Notification', ...facts } })),
  fc
    .record({
      trigger: fc.constant('auto' as const),
      strategy: fc.string(),
      messageCount: fc.nat(),
      tokensIn: fc.nat(),
      tokensOut: fc.nat(),
      tokensInCache: fc.nat(),
      tokensOutCache: fc.nat(),
      deletedRange: fc.tuple(fc.nat(), fc.nat()),
      previousRequestIndex: fc.nat(),
      contextJsonPath: fc.string(),
      contextRawPath: fc.string(),
    })
    .map((facts): Told => ({ name: 'PreCompact', event: { name: 'PreCompact', ...facts } })),
  fc
    .string({ minLength: 1 })
    .map((reason): Told => ({ name: 'SessionShutdown', event: { name: 'SessionEnd', reason } })),
);

const profiles = fc.constantFrom<Profile>('classic', 'sdk');

describe('what was encoded', () => {
  test('reads back as the same facts', () => {
    fc.assert(
      fc.property(firedEvents, profiles, ({ name, event }, profile) => {
        expect(readPayload(payloadOf(event, name, profile))).toMatchObject(event);
      }),
      { numRuns: 500 },
    );
  });

  test('reads back as the same moment', () => {
    const { permissionMode: _mode, transcriptPath: _path, promptId: _id, ...carried } = MOMENT;
    fc.assert(
      fc.property(
        times,
        profiles,
        fc.option(fc.string({ minLength: 1 })),
        (at, profile, parentId) => {
          const agent = { id: 'child', parentId, type: null };
          const event: FiredEvent = { name: 'TaskStart', prompt: 'p', at, agent };
          expect(readPayload(payloadOf(event, 'TaskStart', profile))).toEqual({
            ...carried,
            ...event,
          });
        },
      ),
    );
  });

  test('keeps plan mode', () => {
    const event: FiredEvent = { name: 'TaskStart', prompt: 'p', permissionMode: 'plan' };
    expect(readPayload(payloadOf(event, 'TaskStart', 'sdk'))).toMatchObject(event);
  });

  test.each(['classic', 'sdk'] as const)('keeps the result of a tool, %s', (profile) => {
    const row = { response: undefined, text: 'hi', success: true };
    const event: FiredEvent = {
      name: 'PostToolUse',
      tool: { callId: 'c', name: 'run_commands', input: { commands: ['echo hi'] } },
      result: { ...row, parts: [row] },
      durationMs: 7,
    };
    expect(readPayload(payloadOf(event, 'PostToolUse', profile))).toMatchObject(event);
  });

  test.each(['classic', 'sdk'] as const)('keeps why a tool failed, %s', (profile) => {
    const event: FiredEvent = {
      name: 'PostToolUseFailure',
      tool: { callId: 'c', name: 'my_tool', input: { a: 1 } },
      result: { response: undefined, text: 'no such file', success: false, error: 'ENOENT' },
      durationMs: 7,
    };
    expect(readPayload(payloadOf(event, 'PostToolUse', profile))).toMatchObject(event);
  });
});

describe('payloads of VS Code', () => {
  const common = {
    clineVersion: '3.89.2',
    timestamp: '1767225600123',
    taskId: '1767225600000',
    workspaceRoots: ['/home/u/proj'],
    userId: 'u-123',
    model: { provider: 'anthropic', slug: 'claude-x' },
  };
  const moment = {
    version: '3.89.2',
    at: 1_767_225_600_123,
    taskId: '1767225600000',
    workspaceRoots: ['/home/u/proj'],
    userId: 'u-123',
    model: { provider: 'anthropic', id: 'claude-x' },
  };
  const task = { taskId: '1767225600000', ulid: '01J' };

  test.each<[string, object, object]>([
    [
      'TaskStart',
      { taskStart: { taskMetadata: { ...task, initialTask: 'Fix the bug' } } },
      { name: 'TaskStart', prompt: 'Fix the bug', ulid: '01J' },
    ],
    [
      'TaskResume',
      {
        taskResume: {
          taskMetadata: task,
          previousState: {
            lastMessageTs: '1767225500000',
            messageCount: '42',
            conversationHistoryDeleted: 'false',
          },
        },
      },
      {
        name: 'TaskResume',
        prompt: '',
        lastMessageAt: 1_767_225_500_000,
        messageCount: 42,
        historyDeleted: false,
        ulid: '01J',
      },
    ],
    [
      'TaskCancel',
      { taskCancel: { taskMetadata: { ...task, completionStatus: 'cancelled' } } },
      { name: 'RunEnd', status: 'aborted', reason: '', ulid: '01J' },
    ],
    [
      'TaskComplete',
      { taskComplete: { taskMetadata: { ...task, result: 'final text', command: '' } } },
      { name: 'TaskComplete', result: 'final text', ulid: '01J' },
    ],
    [
      'UserPromptSubmit',
      { userPromptSubmit: { prompt: 'Fix the bug' } },
      { name: 'UserPromptSubmit', prompt: 'Fix the bug', attachments: [] },
    ],
    [
      'PreToolUse',
      {
        preToolUse: {
          toolName: 'execute_command',
          parameters: { command: 'npm test', requires_approval: 'false' },
        },
      },
      {
        name: 'PreToolUse',
        tool: {
          callId: '',
          name: 'execute_command',
          input: { command: 'npm test', requires_approval: 'false' },
        },
      },
    ],
    [
      'PostToolUse',
      {
        postToolUse: {
          toolName: 'write_to_file',
          parameters: { path: 'src/a.ts', content: 'x' },
          result: 'saved',
          success: true,
          executionTimeMs: 153,
        },
      },
      {
        name: 'PostToolUse',
        tool: { callId: '', name: 'write_to_file', input: { path: 'src/a.ts', content: 'x' } },
        durationMs: 153,
        result: { response: undefined, text: 'saved', success: true },
      },
    ],
    [
      'PreCompact',
      {
        preCompact: {
          ...task,
          contextSize: 120,
          compactionStrategy: 'standard-truncation-lastquarter',
          previousApiReqIndex: 57,
          tokensIn: 180_000,
          deletedRangeEnd: 77,
          contextJsonPath: '/t/h.json',
        },
      },
      {
        name: 'PreCompact',
        ulid: '01J',
        trigger: 'auto',
        strategy: 'standard-truncation-lastquarter',
        messageCount: 120,
        tokensIn: 180_000,
        tokensOut: 0,
        tokensInCache: 0,
        tokensOutCache: 0,
        deletedRange: [0, 77],
        previousRequestIndex: 57,
        contextJsonPath: '/t/h.json',
        contextRawPath: '',
      },
    ],
    [
      'Notification',
      {
        notification: {
          event: 'user_attention',
          source: 'tool',
          message: 'May I?',
          waitingForUserInput: true,
        },
      },
      {
        name: 'Notification',
        type: 'permission_prompt',
        message: 'May I?',
        source: 'tool',
        waiting: true,
      },
    ],
  ])('%s', (hookName, data, facts) => {
    expect(readPayload({ ...common, hookName, ...data })).toEqual({ ...moment, ...facts });
  });

  test('a failed call, whose falsy fields VS Code leaves out', () => {
    const payload = { hookName: 'PostToolUse', postToolUse: { toolName: 'read_file' } };
    expect(readPayload(payload)).toEqual({
      name: 'PostToolUseFailure',
      tool: { callId: '', name: 'read_file', input: {} },
      durationMs: 0,
      result: { response: undefined, text: '', success: false, error: '' },
    });
  });

  test('the oldest templates’ field for the tool', () => {
    const payload = { hookName: 'PreToolUse', preToolUse: { tool: 'read_file' } };
    expect(readPayload(payload)).toMatchObject({ tool: { name: 'read_file' } });
  });
});

describe('payloads of the SDK', () => {
  const common = {
    clineVersion: '',
    timestamp: '2026-11-15T17:54:14.315Z',
    taskId: 'conv_1',
    sessionContext: { rootSessionId: 'root_1' },
    workspaceRoots: ['/w/ws'],
    workspaceInfo: { rootPath: '/w/ws', hint: 'ws' },
    userId: 'unknown',
    agent_id: 'agent_1',
    parent_agent_id: null,
  };
  const moment = {
    at: Date.parse('2026-11-15T17:54:14.315Z'),
    taskId: 'conv_1',
    sessionId: 'root_1',
    workspaceRoots: ['/w/ws'],
    userId: 'unknown',
    agent: { id: 'agent_1', parentId: null, type: null },
  };
  const row = { query: 'echo hi', result: 'hi\n', success: true };
  const call = { id: 'call_0_0', name: 'run_commands', input: { commands: ['echo hi'] } };
  const tool = { callId: 'call_0_0', name: 'run_commands', input: { commands: ['echo hi'] } };

  test.each<[string, object, object]>([
    ['agent_start', { taskStart: { taskMetadata: {} } }, { name: 'TaskStart', prompt: '' }],
    [
      'agent_resume',
      { taskResume: { taskMetadata: {}, previousState: {} } },
      {
        name: 'TaskResume',
        prompt: '',
        lastMessageAt: null,
        messageCount: 0,
        historyDeleted: false,
      },
    ],
    [
      'prompt_submit',
      { userPromptSubmit: { prompt: 'hi', attachments: [] } },
      { name: 'UserPromptSubmit', prompt: 'hi', attachments: [] },
    ],
    [
      'tool_call',
      {
        iteration: 1,
        tool_call: call,
        preToolUse: { toolName: 'run_commands', parameters: { commands: '["echo hi"]' } },
      },
      { iteration: 1, name: 'PreToolUse', tool },
    ],
    [
      'tool_result',
      {
        iteration: 1,
        tool_result: { ...call, output: [row], durationMs: 10 },
        postToolUse: {
          toolName: 'run_commands',
          parameters: { commands: '["echo hi"]' },
          result: JSON.stringify([row]),
          success: true,
          executionTimeMs: 10,
        },
      },
      {
        iteration: 1,
        name: 'PostToolUse',
        tool,
        durationMs: 10,
        result: {
          response: undefined,
          text: 'hi\n',
          success: true,
          parts: [{ response: undefined, text: 'hi\n', success: true }],
        },
      },
    ],
    [
      'agent_end',
      {
        iteration: 2,
        turn: { outputText: 'All done.', status: 'completed' },
        taskComplete: { taskMetadata: {} },
      },
      { iteration: 2, name: 'TaskComplete', result: 'All done.' },
    ],
    [
      'agent_error',
      { iteration: 1, error: { name: 'Error', message: 'bad thing', stack: 'at x' } },
      {
        iteration: 1,
        name: 'RunEnd',
        status: 'failed',
        error: { name: 'Error', message: 'bad thing', stack: 'at x' },
      },
    ],
    [
      'agent_abort',
      { reason: 'cancelled upstream', taskCancel: { taskMetadata: {} } },
      { name: 'RunEnd', status: 'aborted', reason: 'cancelled upstream' },
    ],
    ['session_shutdown', {}, { name: 'SessionEnd', reason: 'other' }],
  ])('%s', (hookName, data, facts) => {
    expect(readPayload({ ...common, hookName, ...data })).toEqual({ ...moment, ...facts });
  });
});

describe('an object that is no payload', () => {
  test.each([
    [null, 'expected an object, found null'],
    [[], 'expected an object, found array'],
    ['text', 'expected an object, found string'],
    [{}, '"hookName" should name a Cline hook, found undefined'],
    [{ hookName: 'SessionStart' }, '"hookName" should name a Cline hook, found "SessionStart"'],
    [{ hookName: 5 }, '"hookName" should name a Cline hook, found 5'],
  ])('%j', (payload, why) => {
    expect(() => readPayload(payload)).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_INVALID',
        message: `not a payload of a Cline hook: ${why}`,
      }),
    );
  });

  test('fields of the wrong type read as if they were absent', () => {
    const payload = {
      hookName: 'PreToolUse',
      timestamp: 5,
      taskId: {},
      workspaceRoots: ['/a', 7],
      model: 'x',
      preToolUse: [],
      tool_call: 'x',
    };
    expect(readPayload(payload)).toEqual({
      name: 'PreToolUse',
      workspaceRoots: ['/a'],
      tool: { callId: '', name: '', input: {} },
    });
  });

  test.each(['99999999999999999999', 'yesterday', ''])('the time %j is invalid', (timestamp) => {
    expect(readPayload({ hookName: 'TaskStart', timestamp })).toEqual({
      name: 'TaskStart',
      prompt: '',
    });
  });

  test('any JSON object with a known name is read without an error', () => {
    const names = fc.constantFrom(
      'PreToolUse',
      'tool_result',
      'TaskResume',
      'PreCompact',
      'Notification',
    );
    const keys = fc.constantFrom(
      'preToolUse',
      'tool_result',
      'postToolUse',
      'taskResume',
      'preCompact',
      'notification',
      'model',
      'timestamp',
      'sessionContext',
    );
    fc.assert(
      fc.property(names, fc.dictionary(keys, fc.jsonValue()), (hookName, fields) => {
        expect(readPayload({ ...fields, hookName })).toHaveProperty('name');
      }),
    );
  });
});

describe('the data that a caller gives a runner', () => {
  test('names its tool as the payload does', () => {
    expect(
      readEventFromData('PreToolUse', { toolName: 'read_file', parameters: { path: 'a' } }),
    ).toEqual({
      name: 'PreToolUse',
      tool: { callId: '', name: 'read_file', input: { path: 'a' } },
    });
  });

  test('carries the ids of its task', () => {
    const taskMetadata = { taskId: '7', ulid: '01K', initialTask: 'do it' };
    expect(readEventFromData('TaskStart', { taskMetadata })).toEqual({
      name: 'TaskStart',
      prompt: 'do it',
      taskId: '7',
      ulid: '01K',
    });
  });

  test('of an error and of a cancelled task', () => {
    const error = { name: 'E', message: 'm' };
    expect(readEventFromData('TaskError', { error })).toEqual({
      name: 'RunEnd',
      status: 'failed',
      error,
    });
    expect(
      readEventFromData('TaskCancel', {
        taskMetadata: { completionStatus: 'cancelled' },
        reason: 'r',
      }),
    ).toEqual({ name: 'RunEnd', status: 'aborted', reason: 'r' });
  });
});
