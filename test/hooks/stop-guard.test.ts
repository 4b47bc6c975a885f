import { expect, test } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { createEmptyVerdict } from '../../src/hooks/decision.ts';
import { createStopGuard } from '../../src/hooks/stop-guard.ts';

const PASS = createEmptyVerdict('Stop');
const DENY: Verdict = { ...PASS, effect: 'deny', reasons: [{ hook: 'a', text: 'tests fail' }] };
const CONTEXT: Verdict = { ...PASS, context: [{ hook: 'b', text: 'look again' }] };

test('a pass lets the agent end', () => {
  expect(createStopGuard().judge(PASS)).toEqual({ goesOn: false, overridden: null });
});

test('the ninth continuation in a row is overridden, with the names of the hooks that wanted it', () => {
  const guard = createStopGuard();
  const rulings = Array.from({ length: 9 }, (_, at) => guard.judge(at % 2 === 0 ? DENY : CONTEXT));
  expect(rulings.slice(0, 8).every(({ goesOn }) => goesOn)).toBe(true);
  expect(rulings[8]).toEqual({
    goesOn: false,
    overridden: 'hooks kept the agent from ending 9 times in a row (a); it ends now',
  });
});

test('a new prompt starts the count anew', () => {
  const guard = createStopGuard(1);
  expect(guard.judge(DENY).goesOn).toBe(true);
  guard.reset();
  expect(guard.judge(DENY).goesOn).toBe(true);
  expect(guard.judge(DENY).goesOn).toBe(false);
});

test('a cap of 0 never overrides', () => {
  const guard = createStopGuard(0);
  const rulings = Array.from({ length: 50 }, () => guard.judge(DENY));
  expect(rulings.every(({ goesOn }) => goesOn)).toBe(true);
});

test('a hook that stops the run ends it, whatever others want', () => {
  const stopped: Verdict = { ...DENY, effect: 'pass', stop: { reason: 'enough', pending: 'run' } };
  expect(createStopGuard().judge(stopped)).toEqual({ goesOn: false, overridden: null });
});
