import { describe, expect, it } from 'vitest';
import { LoopGuard, type LoopRuling } from '../../../src/agent/loop/loop-guard.ts';

type FinishedCall = Parameters<LoopGuard['observe']>[0];

const call: FinishedCall = { name: 'Read', input: { file: 'a' }, answer: 'x', outcome: 'success' };

function observe(guard: LoopGuard, finished: FinishedCall): LoopRuling {
  return guard.observe(finished);
}

function kindsOf(observed: readonly FinishedCall[]): readonly string[] {
  const guard = new LoopGuard();
  return observed.map((each) => observe(guard, each).kind);
}

describe('the loop guard', () => {
  it('warns at the third call that is the same with the same answer, and ends at the eighth', () => {
    expect(kindsOf(Array.from({ length: 8 }, () => call))).toEqual([
      'fine',
      'fine',
      'warn',
      'fine',
      'fine',
      'fine',
      'fine',
      'end',
    ]);
  });

  it('lets the same call be made for ever while its result changes', () => {
    const waiting = Array.from({ length: 30 }, (_, at) => ({ ...call, answer: String(at) }));
    expect(new Set(kindsOf(waiting))).toEqual(new Set(['fine']));
  });

  it('counts anew after another call', () => {
    const other = { ...call, name: 'Grep' };
    const kinds = kindsOf([call, call, other, call, call, other, call, call]);
    expect(new Set(kinds)).toEqual(new Set(['fine']));
  });

  it('warns at the sixth failure in a row, whatever the calls are, and ends at the fifteenth', () => {
    const failing = Array.from({ length: 15 }, (_, at): FinishedCall => ({
      ...call,
      input: at,
      outcome: 'failure',
    }));
    const kinds = kindsOf(failing);
    expect(kinds.indexOf('warn')).toBe(5);
    expect(kinds.indexOf('end')).toBe(14);
    expect(kinds.filter((kind) => kind !== 'fine')).toEqual(['warn', 'end']);
  });

  it('forgets failures with the first call that succeeds', () => {
    const failed = (at: number): FinishedCall => ({ ...call, input: at, outcome: 'failure' });
    const fine = { ...call, input: 'fine' };
    const kinds = kindsOf([1, 2, 3, 4, 5].map(failed).concat(fine, [6, 7, 8].map(failed)));
    expect(new Set(kinds)).toEqual(new Set(['fine']));
  });

  it('ends nothing because of calls that hooks denied, and does not forget failures with them', () => {
    const limits = { sameCalls: 8, failedCalls: 2, failedTurns: 2 };
    const denied = { ...call, outcome: 'denied' } as const;
    const guard = new LoopGuard(limits);
    const kinds = Array.from({ length: 30 }, () => [
      observe(guard, denied).kind,
      guard.endTurn(['denied']).kind,
    ]).flat();
    expect(kinds.filter((kind) => kind !== 'fine')).toEqual(['warn']);
    observe(guard, { ...call, outcome: 'failure', input: 1 });
    expect(guard.endTurn(['failure', 'denied'])).toEqual({ kind: 'fine' });
    observe(guard, denied);
    expect(guard.endTurn(['denied'])).toEqual({ kind: 'fine' });
    expect(observe(guard, { ...call, outcome: 'failure', input: 2 }).kind).toBe('end');
    expect(guard.endTurn(['failure']).kind).toBe('end');
  });

  it('starts anew with a new prompt', () => {
    const guard = new LoopGuard();
    observe(guard, call);
    observe(guard, call);
    guard.reset();
    expect(observe(guard, call)).toEqual({ kind: 'fine' });
  });

  it('describes what it saw in a sentence', () => {
    const guard = new LoopGuard();
    const rulings = Array.from({ length: 8 }, () => observe(guard, call));
    expect(rulings[2]).toEqual({
      kind: 'warn',
      text: 'You made the same Read call 3 times and got the same answer. Try something else, or say what keeps you from going on.',
    });
    expect(rulings[7]).toEqual({
      kind: 'end',
      reason: 'the same Read call was made 8 times in a row',
    });
  });
});
