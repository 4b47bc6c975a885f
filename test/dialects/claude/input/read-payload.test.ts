import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isHooklineError } from '../../../../src/base/errors.ts';
import { readClaudePayload } from '../../../../src/dialects/claude/input/read-payload.ts';
import { CLAUDE_EVENT_NAMES, CLAUDE_EVENTS } from '../../../../src/dialects/claude/events.ts';
import { RECORDINGS } from './input-events.ts';

describe('a payload of Claude', () => {
  test('becomes an event in our vocabulary', () => {
    expect(
      readClaudePayload({
        session_id: 's',
        transcript_path: '/t.jsonl',
        cwd: '/ws',
        prompt_id: 'p',
        permission_mode: 'plan',
        agent_id: 'a',
        agent_type: 'reviewer',
        effort: { level: 'low' },
        hook_event_name: 'PostToolUseFailure',
        tool_name: 'Bash',
        tool_input: { command: 'x' },
        tool_use_id: 'c',
        error: 'Exit code 3\nboom',
        is_interrupt: true,
        duration_ms: 7,
        mcp_server: { name: 'm', source: 'user' },
      }),
    ).toEqual({
      name: 'PostToolUseFailure',
      sessionId: 's',
      transcriptPath: '/t.jsonl',
      cwd: '/ws',
      promptId: 'p',
      permissionMode: 'plan',
      agent: { id: 'a', parentId: 's', type: 'reviewer' },
      effort: 'low',
      tool: { callId: 'c', name: 'Bash', input: { command: 'x' } },
      mcpServer: { name: 'm', source: 'user' },
      result: {
        response: undefined,
        text: 'Exit code 3\nboom',
        success: false,
        error: 'Exit code 3\nboom',
        exitCode: 3,
      },
      interrupted: true,
      durationMs: 7,
    });
  });

  test.each(CLAUDE_EVENT_NAMES)('may have few fields: %s', (name) => {
    const event = readClaudePayload({ hook_event_name: name, tool_name: 'Read' });
    expect(event.name).toBe(CLAUDE_EVENTS[name].event);
  });

  test('may use the names that some documents give', () => {
    expect(readClaudePayload({ hook_event_name: 'UserPromptSubmit', user_prompt: 'p' })).toEqual({
      name: 'UserPromptSubmit',
      prompt: 'p',
    });
    expect(
      readClaudePayload({ hook_event_name: 'SessionStart', session_trigger: 'clear' }),
    ).toEqual({ name: 'SessionStart', source: 'clear' });
    expect(
      readClaudePayload({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_result: 'x' }),
    ).toMatchObject({ result: { response: 'x', text: 'x', success: true } });
  });

  test.each([
    [{ stdout: 'out' }, 'out'],
    [{ type: 'text', file: { content: 'in file' } }, 'in file'],
    [
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'a\nb',
    ],
    [{ status: 'completed', content: [{ type: 'text', text: 'done' }] }, 'done'],
    [{ success: true }, '{"success":true}'],
    ['plain', 'plain'],
    [undefined, ''],
  ])('reads the text that the model saw from %j', (response, text) => {
    const payload = { hook_event_name: 'PostToolUse', tool_name: 'x', tool_response: response };
    expect(readClaudePayload(payload)).toMatchObject({ result: { text } });
  });
});

describe('an object that is no payload of Claude', () => {
  test.each<[unknown, string]>([
    [null, 'it should be an object, found null'],
    [[], 'it should be an object, found array'],
    [{}, '"hook_event_name" should be a text, found nothing'],
    [{ hook_event_name: 3 }, '"hook_event_name" should be a text, found number'],
    [
      { hook_event_name: 'PreTooluse' },
      '"hook_event_name" should name an event of Claude, found "PreTooluse"; did you mean PreToolUse?',
    ],
    [{ hook_event_name: 'PreToolUse' }, '"tool_name" should be a text, found nothing'],
    [
      { hook_event_name: 'SessionStart', source: 'boot' },
      '"source" should be one of startup, resume, clear, compact, fork, found "boot"',
    ],
    [
      { hook_event_name: 'PostToolBatch', tool_calls: [{ tool_name: 'a' }, { tool_name: 1 }] },
      '"tool_calls[1].tool_name" should be a text, found number',
    ],
    [
      { hook_event_name: 'Stop', background_tasks: {} },
      '"background_tasks" should be a list, found object',
    ],
    [
      { hook_event_name: 'InstructionsLoaded', globs: ['a', 1] },
      '"globs[1]" should be a text, found number',
    ],
    [{ hook_event_name: 'Stop', effort: 'high' }, '"effort" should be an object, found string'],
    [
      { hook_event_name: 'Stop', stop_hook_active: 'no' },
      '"stop_hook_active" should be true or false, found string',
    ],
  ])('is refused with its position: %j', (payload, problem) => {
    expect(() => readClaudePayload(payload)).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_INVALID',
        message: `not a payload of a Claude hook: ${problem}`,
      }),
    );
  });

  test('never fails in another way', () => {
    const keys = [...new Set(RECORDINGS.flatMap(({ payload }) => Object.keys(payload)))];
    const payloads = fc.record({
      name: fc.constantFrom(...CLAUDE_EVENT_NAMES),
      fields: fc.dictionary(fc.constantFrom(...keys), fc.jsonValue(), { maxKeys: 6 }),
    });
    fc.assert(
      fc.property(payloads, ({ name, fields }) => {
        try {
          const event = readClaudePayload({ ...fields, hook_event_name: name });
          expect(event.name).toBe(CLAUDE_EVENTS[name].event);
        } catch (error) {
          if (!isHooklineError(error)) throw error;
          expect(error.code).toBe('PAYLOAD_INVALID');
        }
      }),
      { numRuns: 1000 },
    );
  });
});
