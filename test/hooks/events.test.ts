import { describe, expect, test } from 'vitest';
import { EVENT_NAMES, EVENTS, isEventName, getSubject } from '../../src/hooks/events.ts';
import { getToolCall, type EventName } from '../../src/hooks/facts.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { MOMENT } from './handlers.ts';

function eventOf(name: EventName, facts: Readonly<Record<string, unknown>> = {}) {
  return { ...MOMENT, ...createSampleEvent(name, facts) };
}

describe('rows', () => {
  test.each(EVENT_NAMES)('%s can be refused exactly if it supports deny', (name) => {
    const { refusal, effects, fires } = EVENTS[name];
    expect(effects.includes('deny')).toBe(refusal !== null);
    expect(fires).not.toBe('');
  });

  test('names are case-sensitive, and inherited keys are no names', () => {
    expect(['PreToolUse', 'pretooluse', 'toString', '__proto__', ''].map(isEventName)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  test('events about a tool call are matched by the tool, all others by their subject or not at all', () => {
    const withTool = EVENT_NAMES.filter((name) => getToolCall(eventOf(name)) !== null);
    expect(withTool).toEqual([
      'PreToolUse',
      'PermissionRequest',
      'PermissionDenied',
      'PostToolUse',
      'PostToolUseFailure',
    ]);
    for (const name of withTool) expect(EVENTS[name].subject).toBeNull();
  });
});

describe('subjects', () => {
  test.each<[EventName, Readonly<Record<string, unknown>>, string | null]>([
    ['SessionStart', { source: 'resume' }, 'resume'],
    ['Setup', { trigger: 'maintenance' }, 'maintenance'],
    ['SessionEnd', { reason: 'logout' }, 'logout'],
    ['UserPromptExpansion', { command: 'review' }, 'review'],
    ['PreCompact', { trigger: 'manual' }, 'manual'],
    ['PostCompact', { trigger: 'manual' }, 'manual'],
    ['SubagentStart', { agentType: 'Explore' }, 'Explore'],
    ['SubagentStop', { agentType: 'Explore' }, 'Explore'],
    ['RunEnd', { status: 'failed', errorClass: 'rate_limit' }, 'rate_limit'],
    ['RunEnd', { status: 'aborted' }, 'aborted'],
    ['Notification', { type: 'idle_prompt' }, 'idle_prompt'],
    ['PreModelSwitch', { toModel: 'big' }, 'big'],
    ['PostModelSwitch', { toModel: 'big' }, 'big'],
    ['Elicitation', { server: 'github' }, 'github'],
    ['ElicitationResult', { server: 'github' }, 'github'],
    ['ConfigChange', { source: 'project_settings' }, 'project_settings'],
    ['InstructionsLoaded', { loadReason: 'include' }, 'include'],
    ['DirectoryAdded', { source: 'slash_command' }, 'slash_command'],
    ['FileChanged', { file: '/a/b/.env' }, '.env'],
    ['FileChanged', { file: 'C:\\a\\.env' }, '.env'],
    ['Stop', {}, null],
    ['UserPromptSubmit', {}, null],
    ['PreToolUse', {}, null],
  ])('%s with %j', (name, facts, subject) => {
    expect(getSubject(eventOf(name, facts))).toBe(subject);
  });
});
