import { describe, expect, test } from 'vitest';
import {
  FILE_HOOK_NAMES,
  FILE_HOOKS,
  findFileHookName,
  isFileHookName,
} from '../../../src/dialects/cline-files/events.ts';
import type { FiredEvent } from '../../../src/hooks/facts.ts';
import { eventOf } from './events.ts';

describe('names', () => {
  test.each(FILE_HOOK_NAMES)('%s is found however it is spelled, and by the SDK’s name', (name) => {
    const { sdkName } = FILE_HOOKS[name];
    const spelled = [name, name.toLowerCase(), name.toUpperCase(), ` ${name} `, sdkName];
    expect(spelled.map(findFileHookName)).toEqual(spelled.map(() => name));
  });

  test('others are not', () => {
    expect(['SessionStart', '', 'toString'].map(findFileHookName)).toEqual([null, null, null]);
    expect(['PreToolUse', 'pretooluse', 'toString'].map(isFileHookName)).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('the moment of an event that is meant', () => {
  const failed = {
    tool: { callId: 'c', name: 'Bash', input: {} },
    result: { response: undefined, text: '', success: false },
    durationMs: 1,
  };

  test.each<[keyof typeof FILE_HOOKS, FiredEvent, string | null]>([
    ['TaskCancel', { name: 'RunEnd', status: 'aborted' }, null],
    [
      'TaskCancel',
      { name: 'RunEnd', status: 'completed' },
      'runs only when a run is aborted, and this one is completed',
    ],
    ['TaskError', { name: 'RunEnd', status: 'failed' }, null],
    [
      'TaskError',
      { name: 'RunEnd', status: 'aborted' },
      'runs only when a run is failed, and this one is aborted',
    ],
    ['PostToolUse', { name: 'PostToolUseFailure', ...failed }, null],
    [
      'PostToolUse',
      { name: 'PostToolUseFailure', ...failed, denied: true },
      'the call was denied, so the tool did not run',
    ],
    ['TaskStart', { name: 'TaskStart', prompt: '' }, null],
  ])('%s at %j', (name, event, misfit) => {
    expect(FILE_HOOKS[name].misfit(eventOf(event))).toBe(misfit);
  });
});
