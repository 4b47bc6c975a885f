import { describe, expect, it } from 'vitest';
import { attributeEvent } from '../../src/dialects/attribute-event.ts';
import { readRecordedPayloads } from './recorded-payloads.ts';

const COPILOT = readRecordedPayloads().filter(
  ({ agent, payload }) => agent === 'copilot' && 'hook_event_name' in payload,
);

const CURSOR = {
  hook_event_name: 'preToolUse',
  conversation_id: 'c',
  generation_id: 'g',
  cursor_version: '2.0',
  tool_use_id: 't',
  tool_input: { command: 'ls' },
};

const CLAUDE = {
  hook_event_name: 'PreToolUse',
  session_id: 's',
  transcript_path: '/home/dev/.claude/projects/p/s.jsonl',
  cwd: '/p',
  permission_mode: 'default',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 'toolu_1',
};

describe('an event of an agent that also runs the hooks of Claude', () => {
  it.each(COPILOT)('is Copilot’s, and the same one, under both names: $name', ({ payload }) => {
    const own = attributeEvent('copilot', payload);
    expect(own).toEqual({ agent: 'copilot', id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(attributeEvent('claude', payload)).toEqual(own);
  });

  it('is Cursor’s, and the same one, in either spelling', () => {
    const own = attributeEvent('cursor', CURSOR);
    expect(own).toEqual({ agent: 'cursor', id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(attributeEvent('claude', { ...CURSOR, hook_event_name: 'PreToolUse' })).toEqual(own);
  });

  it('differs from every other one', () => {
    const ids = COPILOT.map(({ payload }) => attributeEvent('copilot', payload).id);
    expect(new Set(ids).size).toBe(COPILOT.length);
    const other = attributeEvent('cursor', { ...CURSOR, tool_use_id: 'u' });
    expect(other.id).not.toBe(attributeEvent('cursor', CURSOR).id);
  });

  it.each([
    ['claude', CLAUDE],
    ['claude', { ...CLAUDE, timestamp: '2026-11-16T18:00:00.000Z' }],
    ['codex', CLAUDE],
    ['cursor', { hook_event_name: 'stop' }],
    ['claude', 'no object'],
  ])('is not made of one of %s that arrives once', (agent, payload) => {
    expect(attributeEvent(agent, payload)).toEqual({ agent, id: null });
  });
});
