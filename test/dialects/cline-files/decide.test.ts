import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/dialects/cline-files/codec.ts';
import type { HandlerInput } from '../../../src/hooks/handler.ts';
import { bash, MOMENT } from '../../hooks/handlers.ts';

const INPUT: HandlerInput = {
  event: { ...MOMENT, ...bash('ls') },
  tool: { name: 'Bash', input: { command: 'ls' }, part: null },
};
const CUT = 'aaaaa\n\n[... reason cut at 5 characters; it had 9 ...]';
const NOTE = 'reason cut at 5 characters; it had 9';

describe('a reason that is too long is cut, and the cut is noted', () => {
  test.each([
    ['deny', { effect: 'deny', reason: CUT }],
    ['stop', { effect: 'deny', reason: CUT, stop: { reason: CUT, pending: 'skip' } }],
  ] as const)('when cancel stands for %s', (cancel, decision) => {
    const answer = { cancel: true, errorMessage: 'a'.repeat(9) };
    expect(decide(answer, INPUT, { cancel, maxContextChars: 5 })).toEqual({
      decision,
      notes: [NOTE],
    });
  });

  test('when it asks for a review', () => {
    const answer = { review: true, errorMessage: 'a'.repeat(9) };
    const { decision, notes } = decide(answer, INPUT, { cancel: 'deny', maxContextChars: 5 });
    expect(decision).toMatchObject({ effect: 'ask', reason: CUT });
    expect(notes).toContain(NOTE);
  });
});

test('a reason that fits is left as it is', () => {
  const answer = { cancel: true, errorMessage: 'aaaaa' };
  expect(decide(answer, INPUT, { cancel: 'deny', maxContextChars: 5 })).toEqual({
    decision: { effect: 'deny', reason: 'aaaaa' },
    notes: [],
  });
});
