import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';

test('the system’s clock gives the time of day and never runs backwards', () => {
  const before = Date.now();
  const [first, second] = [systemClock.elapsed(), systemClock.elapsed()];
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  expect(second).toBeGreaterThanOrEqual(first);
});
