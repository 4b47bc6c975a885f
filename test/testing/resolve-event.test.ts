import { describe, expect, it } from 'vitest';
import { resolveEvent } from '../../src/testing/resolve-event.ts';

describe('resolveEvent', () => {
  it('fills in missing facts', () => {
    expect(resolveEvent({ event: 'PreToolUse', tool: 'Bash', input: { command: 'ls' } })).toEqual({
      name: 'PreToolUse',
      tool: { callId: 'call_1', name: 'Bash', input: { command: 'ls' } },
    });
  });

  it('does not use the example’s input for another tool', () => {
    expect(resolveEvent({ event: 'PreToolUse', tool: 'Bash' })).toMatchObject({
      tool: { name: 'Bash', input: {} },
    });
  });

  it.each([
    ['TaskCancel', { name: 'RunEnd', status: 'aborted' }],
    ['TaskError', { name: 'RunEnd', status: 'failed' }],
    ['SessionShutdown', { name: 'SessionEnd' }],
    ['tool_call', { name: 'PreToolUse' }],
    ['pretooluse', { name: 'PreToolUse' }],
  ])('accepts a dialect’s name of the event: %s', (event, facts) => {
    expect(resolveEvent({ event })).toMatchObject(facts);
  });

  it('makes a failure of a PostToolUse without success', () => {
    expect(
      resolveEvent({ event: 'PostToolUse', success: false, result: 'disk full' }),
    ).toMatchObject({
      name: 'PostToolUseFailure',
      result: { text: 'disk full', success: false, error: 'disk full' },
    });
  });

  it('lets facts override everything else', () => {
    expect(
      resolveEvent({ event: 'UserPromptSubmit', prompt: 'one', facts: { prompt: 'two' } }),
    ).toMatchObject({ prompt: 'two' });
  });

  it('reads a payload that an agent wrote', () => {
    const payload = { hookName: 'TaskStart', taskStart: { taskMetadata: { initialTask: 'x' } } };
    expect(resolveEvent({ payload, as: 'cline' })).toEqual({
      name: 'TaskStart',
      prompt: 'x',
    });
  });

  it.each([
    [{ event: 'PreToolUs' }, 'EVENT_UNKNOWN', 'event "PreToolUs" not found'],
    [{ event: 'TaskStart', tool: 'Bash' }, 'PAYLOAD_INVALID', 'TaskStart is not about a tool'],
    [{ event: 'PreToolUse', result: 'x' }, 'PAYLOAD_INVALID', 'PreToolUse carries no tool result'],
    [{ event: 'PreToolUse', prompt: 'x' }, 'PAYLOAD_INVALID', 'PreToolUse has no fact "prompt"'],
    [
      { event: 'PostToolUseFailure', success: true },
      'PAYLOAD_INVALID',
      'PostToolUseFailure means that the tool failed',
    ],
    [{ payload: {}, as: 'nobody' }, 'USAGE_INVALID', expect.stringContaining('"nobody"')],
  ])('refuses what does not fit together: %j', (description, code, message) => {
    expect(() => resolveEvent(description)).toThrow(expect.objectContaining({ code, message }));
  });
});
