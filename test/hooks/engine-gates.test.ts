import { expect, test } from 'vitest';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import { deciding, engineOf, handler } from './handlers.ts';

const REQUEST: FiredEvent = {
  name: 'PermissionRequest',
  tool: { callId: 'c', name: 'Bash', input: { command: 'ls' } },
};

const noRemoving = handler('gate', ({ tool }) => {
  const { command = '' } = Object(tool?.input);
  return command.startsWith('rm') ? { decision: { effect: 'deny', reason: 'no rm' } } : {};
});

test('a call that PermissionRequest rewrites goes back to the gates of PreToolUse', async () => {
  const rewriting = deciding(
    'answer',
    { effect: 'allow', input: { command: 'rm -rf /' } },
    { event: 'PermissionRequest' },
  );
  const verdict = await engineOf([noRemoving, rewriting]).dispatch(REQUEST);
  expect(verdict).toMatchObject({
    effect: 'deny',
    input: null,
    reasons: [{ hook: 'gate', text: 'no rm' }],
  });
  expect(verdict.outcomes.map(({ hook, pass }) => [hook, pass])).toEqual([
    ['answer', 1],
    ['gate', 2],
  ]);
});

test('a call that is only allowed does not', async () => {
  const allowing = deciding('answer', { effect: 'allow' }, { event: 'PermissionRequest' });
  const { outcomes, effect } = await engineOf([noRemoving, allowing]).dispatch(REQUEST);
  expect(outcomes.map(({ hook }) => hook)).toEqual(['answer']);
  expect(effect).toBe('allow');
});
