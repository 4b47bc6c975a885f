import { describe, expect, test } from 'vitest';
import type { FiredEvent } from '../../../../src/hooks/facts.ts';
import { payloadOf, payloadsOf } from './input-events.ts';

const READ = { callId: 'c', name: 'Read', input: { file_path: 'a.txt' } };

describe('every payload', () => {
  test('begins with the same fields in the same order', () => {
    const event: FiredEvent = {
      name: 'PreToolUse',
      tool: READ,
      promptId: 'p',
      effort: 'high',
      agent: { id: 'child', parentId: 'main', type: 'reviewer' },
    };
    expect(Object.entries(payloadOf(event))).toEqual([
      ['session_id', 's'],
      ['transcript_path', '/t/s.jsonl'],
      ['cwd', '/ws'],
      ['prompt_id', 'p'],
      ['permission_mode', 'default'],
      ['agent_id', 'child'],
      ['agent_type', 'reviewer'],
      ['effort', { level: 'high' }],
      ['hook_event_name', 'PreToolUse'],
      ['tool_name', 'Read'],
      ['tool_input', { file_path: '/ws/a.txt' }],
      ['tool_use_id', 'c'],
    ]);
  });

  test('leaves out unknown facts', () => {
    expect(payloadOf({ name: 'SessionEnd', reason: 'other' })).toEqual({
      session_id: 's',
      transcript_path: '/t/s.jsonl',
      cwd: '/ws',
      hook_event_name: 'SessionEnd',
      reason: 'other',
    });
  });

  test('names the transcript that the host keeps, if it keeps one', () => {
    const event: FiredEvent = { name: 'SessionEnd', reason: 'x', transcriptPath: '/own.jsonl' };
    expect(payloadOf(event)).toMatchObject({ transcript_path: '/own.jsonl' });
  });

  test('has only a type for a main agent', () => {
    const agent = { id: 'a', parentId: null, type: 'planner' };
    const payload = payloadOf({ name: 'UserPromptSubmit', prompt: 'p', agent });
    expect(payload).toMatchObject({ agent_type: 'planner' });
    expect(payload).not.toHaveProperty('agent_id');
  });

  test('has no effort outside a turn', () => {
    const prompt: FiredEvent = { name: 'UserPromptSubmit', prompt: 'p', effort: 'high' };
    expect(payloadOf(prompt)).not.toHaveProperty('effort');
  });

  test.each([
    ['acceptEdits', 'acceptEdits'],
    ['plan', 'plan'],
    ['manual', 'default'],
    ['act', 'default'],
  ])('writes permission mode %s as %s', (permissionMode, expected) => {
    const event: FiredEvent = { name: 'PreToolUse', tool: READ, permissionMode };
    expect(payloadOf(event)).toMatchObject({ permission_mode: expected });
  });

  test('ends with the fields of only this run', () => {
    const start: FiredEvent = { name: 'SessionStart', source: 'startup' };
    const payload = payloadOf(start, { extras: { CLAUDE_ENV_FILE: '/env.sh' } });
    expect(Object.entries(payload).slice(-4)).toEqual([
      ['hook_event_name', 'SessionStart'],
      ['source', 'startup'],
      ['session_trigger', 'startup'],
      ['CLAUDE_ENV_FILE', '/env.sh'],
    ]);
  });
});

describe('facts that few hosts have', () => {
  test('have a value that hooks can rely on', () => {
    expect(payloadOf({ name: 'MessageDisplay', text: 't', messageId: 'm' })).toMatchObject({
      turn_id: 'm',
      message_id: 'm',
      index: 0,
      final: true,
      delta: 't',
    });
    expect(payloadOf({ name: 'Stop', lastText: '', again: false })).toEqual({
      session_id: 's',
      transcript_path: '/t/s.jsonl',
      cwd: '/ws',
      permission_mode: 'default',
      hook_event_name: 'Stop',
      stop_hook_active: false,
      background_tasks: [],
      session_crons: [],
    });
    const file: FiredEvent = {
      name: 'InstructionsLoaded',
      file: '/ws/AGENTS.md',
      loadReason: 'session_start',
    };
    expect(payloadOf(file)).toMatchObject({ memory_type: 'Project' });
    expect(payloadOf({ name: 'PreCompact', trigger: 'auto' })).toMatchObject({
      custom_instructions: null,
    });
  });

  test('place a sub-agent’s transcript beside that of its session', () => {
    const agent = { id: 'a1', parentId: 's', type: 'x' };
    const event: FiredEvent = {
      name: 'SubagentStop',
      agentType: 'x',
      lastText: 'done',
      again: false,
      agent,
    };
    expect(payloadOf(event)).toMatchObject({
      agent_id: 'a1',
      agent_transcript_path: '/t/s/subagents/agent-a1.jsonl',
    });
  });

  test('give a failed run the message of its error', () => {
    const error = { name: 'Error', message: 'it broke' };
    expect(payloadOf({ name: 'RunEnd', status: 'failed', error })).toMatchObject({
      hook_event_name: 'StopFailure',
      error: 'unknown',
      last_assistant_message: 'it broke',
    });
  });

  test('name the source, the waiting teammate and the team', () => {
    expect(
      payloadOf({ name: 'UserPromptSubmit', prompt: 'p', source: 'sdk', title: 't' }),
    ).toMatchObject({ prompt: 'p', source: 'sdk', session_title: 't', user_prompt: 'p' });
    expect(payloadOf({ name: 'TeammateIdle', teammate: 'm', team: 't' })).toMatchObject({
      teammate_name: 'm',
      team_name: 't',
    });
    expect(
      payloadOf({ name: 'Notification', type: 'idle_prompt', message: 'm', title: 't' }),
    ).toMatchObject({ message: 'm', title: 't', notification_type: 'idle_prompt' });
  });
});

describe('the calls of a turn', () => {
  test('that have several parts give each of them its own result', () => {
    const call = { callId: 'e', name: 'run_commands', input: { commands: ['a', 'b'] } };
    const answered = { ...call, answer: 'both', answers: ['of a', 'of b'] };
    const changed = { ...call, answer: 'all three', answers: ['of a', 'of b', 'of c'] };
    const toolCalls = payloadOf({ name: 'PostToolBatch', calls: [answered, changed] })[
      'tool_calls'
    ];
    const part = (command: string, answer: string) => ({
      tool_name: 'Bash',
      tool_input: { command },
      tool_use_id: 'e',
      tool_response: answer,
    });
    expect(toolCalls).toEqual([
      part('a', 'of a'),
      part('b', 'of b'),
      part('a', 'all three'),
      part('b', 'all three'),
    ]);
  });

  test('keep the model’s own spelling, in Claude’s vocabulary', () => {
    const event: FiredEvent = {
      name: 'PostToolBatch',
      calls: [
        { ...READ, answer: 'alpha' },
        { callId: 'd', name: 'execute_command', input: { command: 'ls' } },
        { callId: 'e', name: 'run_commands', input: { commands: ['a', 'b'] }, answer: 'both' },
      ],
    };
    expect(payloadOf(event)['tool_calls']).toEqual([
      {
        tool_name: 'Read',
        tool_input: { file_path: 'a.txt' },
        tool_use_id: 'c',
        tool_response: 'alpha',
      },
      { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'd' },
      {
        tool_name: 'Bash',
        tool_input: { command: 'a' },
        tool_use_id: 'e',
        tool_response: 'both',
      },
      {
        tool_name: 'Bash',
        tool_input: { command: 'b' },
        tool_use_id: 'e',
        tool_response: 'both',
      },
    ]);
  });

  test('are sent one by one when a call does several things', () => {
    const tool = { callId: 'e', name: 'run_commands', input: { commands: ['a', 'b'] } };
    const inputs = payloadsOf({ name: 'PreToolUse', tool }).map((payload) => payload['tool_input']);
    expect(inputs).toEqual([{ command: 'a' }, { command: 'b' }]);
  });
});
