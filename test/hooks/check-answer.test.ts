import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findAnswerProblem } from '../../src/hooks/check-answer.ts';
import type { Answer } from '../../src/hooks/handler.ts';
import { bash, engineOf, handler } from './handlers.ts';

/** What JavaScript may return, whatever the compiler accepts. */
function returning(answer: unknown) {
  return () => answer as Answer;
}

describe('an answer that cannot be read', () => {
  test.each([
    [
      { effect: 'deny' },
      'expected an answer of decision, failure, onFailure, suspicion, notes, warnings, program, late, found the field "effect"; what it decides belongs in "decision"',
    ],
    ['deny', 'expected an answer such as { decision: { effect: "deny" } }, found "deny"'],
    [false, 'expected an answer such as { decision: { effect: "deny" } }, found false'],
    [[], 'expected an answer such as { decision: { effect: "deny" } }, found a list'],
    [
      new Map(),
      'expected an answer such as { decision: { effect: "deny" } }, found an object that is not plain ([object Map])',
    ],
    [{ decision: 'deny' }, 'expected "decision" to be an object, found "deny"'],
    [{ decision: null }, 'expected "decision" to be an object, found null'],
    [
      { decision: { effect: 'block' } },
      'expected "decision.effect" to be one of "pass", "allow", "ask", "defer", "deny", found "block"',
    ],
    [
      { decision: { effect: 'deny', reason: 5 } },
      'expected "decision.reason" to be a string, found 5',
    ],
    [
      { decision: { stop: true } },
      'expected "decision.stop" to be { reason: a string, pending: "skip" or "run" }, found true',
    ],
    [
      { decision: { stop: { reason: 'r' } } },
      'expected "decision.stop" to be { reason: a string, pending: "skip" or "run" }, found an object of reason',
    ],
    [{ decision: { context: ['a'] } }, 'expected "decision.context" to be a string, found a list'],
    [
      { failure: 'bad' },
      'expected "failure" to be { kind: one of "spawn", "timeout", "killed", "exit", "output", "threw", "config", message: a string, hint: a string or nothing }, found "bad"',
    ],
    [{ notes: 'one' }, 'expected "notes" to be a list of strings, found "one"'],
    [{ warnings: 'one' }, 'expected "warnings" to be a list of strings, found "one"'],
    [{ late: {} }, 'expected "late" to be a promise, found an object of nothing'],
  ])('is a failure: %j', async (answer, problem) => {
    const engine = engineOf([
      handler('at-once', returning(answer), { onFailure: 'closed' }),
      handler('later', async () => answer as Answer),
    ]);
    const message = `its answer cannot be used: ${problem}`;
    const { effect, reasons, outcomes } = await engine.dispatch(bash('ls'));
    expect({ effect, reasons }).toEqual({
      effect: 'deny',
      reasons: [{ hook: 'at-once', text: message }],
    });
    expect(outcomes).toMatchObject([
      { status: 'failed', effect: 'deny', failure: { kind: 'output', message } },
      { status: 'failed', effect: 'pass', failure: { kind: 'output', message } },
    ]);
  });

  test('is a failure when it comes late, too', async () => {
    const failures: unknown[] = [];
    const engine = engineOf([handler('late', returning({ late: Promise.resolve('deny') }))], {
      onLate: ({ outcome }) => failures.push(outcome.failure?.kind),
    });
    await engine.dispatch(bash('ls'));
    await engine.idle();
    expect(failures).toEqual(['output']);
  });

  test('is a failure when it throws as it is read', async () => {
    const trap = {
      get decision(): never {
        throw new TypeError('trap');
      },
    };
    const engine = engineOf([
      handler('at-once', returning(trap)),
      handler('later', async () => trap),
    ]);
    const { outcomes } = await engine.dispatch(bash('ls'));
    expect(outcomes.map(({ failure }) => failure)).toEqual([
      { kind: 'threw', message: 'trap' },
      { kind: 'threw', message: 'trap' },
    ]);
  });
});

test.each([
  [undefined],
  [null],
  [{}],
  [Object.create(null)],
  [{ decision: {} }],
  [{ decision: { effect: 'ask', reason: undefined, notice: 'n', input: null } }],
  [{ decision: { stop: { reason: 'r', pending: 'run' } }, notes: ['n'] }],
  [{ decision: { somethingNew: 1 } }],
  [{ failure: { kind: 'exit', message: 'm' }, program: { exitCode: 1, stdout: '', stderr: '' } }],
])('%j is an answer', (answer) => {
  expect(findAnswerProblem(answer)).toBeNull();
});

test('any value has a problem in a sentence or none', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (answer) => {
      const problem = findAnswerProblem(answer);
      expect(problem === null || problem.startsWith('expected ')).toBe(true);
    }),
  );
});
