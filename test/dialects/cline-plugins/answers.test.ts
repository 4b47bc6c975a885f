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

it.each([
  [false],
  [{ skip: 'true' }],
  [{ skip: 1 }],
  [{ stop: 'yes' }],
  [{ cancel: true }],
  [{ decision: 'block', reason: 'no' }],
  [{ block: true }],
  [{ allow: false }],
  [{ decision: ['block'] }],
  [{ result: { skip: true } }],
  [{ hookSpecificOutput: { permissionDecision: 'deny' } }],
])('%j is a failure that refuses, because the plugin seems to mean that', (result) => {
  expect(readToolCall(result, 'one')).toEqual({
    failure: { kind: 'output', message: expect.stringContaining('expected an object such as') },
    onFailure: 'closed',
  });
});

it.each([
  [{ policy: { enabled: 'false' } }],
  [{ policy: { enabled: 0 } }],
  [{ policy: { autoApprove: 'false' } }],
  [{ policy: 'deny' }],
])('%j is a failure that refuses, because its flag is no boolean', (result) => {
  expect(readToolCall(result, 'one')).toEqual({
    failure: { kind: 'output', message: expect.stringContaining('expected "policy" such as') },
    onFailure: 'closed',
  });
});

it.each([[true], ['ok'], [[{ skip: true }]]])('%j is a failure, and no answer', (result) => {
  expect(readToolCall(result, 'one')).toEqual({
    failure: { kind: 'output', message: expect.stringContaining('expected an object such as') },
  });
});
