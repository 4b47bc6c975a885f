import { describe, expect, it } from 'vitest';
import { EVENT_NAMES } from '../../src/hooks/events.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';

describe('sampleEvent', () => {
  it.each(EVENT_NAMES)('gives %s by itself', (name) => {
    expect(createSampleEvent(name)).toMatchObject({ name });
  });

  it('puts the given facts above the example', () => {
    expect(createSampleEvent('TaskResume', { messageCount: 7, cwd: '/w' })).toEqual({
      name: 'TaskResume',
      prompt: 'an example task',
      lastMessageAt: 1_767_225_500_000,
      messageCount: 7,
      historyDeleted: false,
      cwd: '/w',
    });
  });

  it('completes a tool, a result and an agent with missing fields', () => {
    expect(
      createSampleEvent('PostToolUse', {
        tool: { name: 'Bash' },
        result: { text: 'ok' },
        agent: { id: 'a' },
      }),
    ).toEqual({
      name: 'PostToolUse',
      tool: { callId: 'call_1', name: 'Bash', input: {} },
      result: { response: undefined, text: 'ok', success: true },
      durationMs: 12,
      agent: { id: 'a', parentId: null, type: null },
    });
  });

  it.each([
    ['PreToolUse', { tool: 'Bash' }, '"tool" of PreToolUse should be object, found string'],
    [
      'PreToolUse',
      { tool: { name: 5 } },
      '"tool.name" of PreToolUse should be string, found number',
    ],
    ['PreToolUse', { cwd: null }, '"cwd" of PreToolUse should be string, found null'],
    ['PreCompact', { tokensIn: '1' }, '"tokensIn" of PreCompact should be number, found string'],
    ['TaskStart', { promt: 'x' }, 'TaskStart has no fact "promt"'],
    ['SessionEnd', { tool: {} }, 'SessionEnd has no fact "tool"'],
  ] as const)('refuses facts that do not fit: %s %j', (name, facts, message) => {
    expect(() => createSampleEvent(name, facts)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_INVALID', message }),
    );
  });

  it('suggests the fact for a misspelt one', () => {
    expect(() => createSampleEvent('TaskStart', { promt: 'x' })).toThrow(
      expect.objectContaining({ hint: 'Did you mean "prompt"?' }),
    );
  });

  it.each([
    ['TaskResume', { lastMessageAt: null }],
    ['PreCompact', { instructions: null, deletedRange: [1, 2] }],
    ['RunEnd', { errorClass: 'rate_limit' }],
    ['Stop', { transcriptPath: null }],
  ] as const)('accepts what may be absent or null: %s %j', (name, facts) => {
    expect(createSampleEvent(name, facts)).toMatchObject(facts);
  });
});
