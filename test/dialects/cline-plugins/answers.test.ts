import { expect, it } from 'vitest';
import { readToolCall } from '../../../src/dialects/cline-plugins/answers.ts';

const stop = { reason: 'why', pending: 'skip' };

it.each([
  [{ skip: true }, { effect: 'deny', reasonAsResult: true }],
  [{ policy: { enabled: false } }, { effect: 'deny', reasonAsResult: true }],
  [{ stop: true }, { stop, reasonAsResult: true }],
  [
    { skip: true, stop: true },
    { effect: 'deny', stop, reasonAsResult: true },
  ],
  [{ policy: { autoApprove: false } }, { effect: 'ask' }],
])('%j has a reason that is the result of the call only where it refuses', (result, expected) => {
  const answer = readToolCall({ ...result, reason: 'why' }, 'one');
  const { reason = 'why', ...decision } = answer?.decision ?? {};
  expect({ reason, decision }).toEqual({ reason: 'why', decision: expected });
});

it.each([
  [{ policy: { autoApprove: true } }, { effect: 'allow' }],
  [{}, {}],
])('%j has none', (result, decision) => {
  expect(readToolCall(result, 'one')).toEqual({ decision, notes: [] });
});
