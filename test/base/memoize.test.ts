import { expect, test } from 'vitest';
import { memoize, memoizePerWave } from '../../src/base/memoize.ts';

function counting(): () => number {
  let count = 0;
  return () => (count += 1);
}

test('a value is computed when it is first needed, and kept', () => {
  const value = memoize(counting());
  expect([value(), value()]).toEqual([1, 1]);
});

test('all calls of one wave get the same value, another wave computes it anew', () => {
  const value = memoizePerWave(counting());
  expect([value(7), value(7), value(8), value(8), value(7)]).toEqual([1, 1, 2, 2, 3]);
});

test('without a wave each call computes the value anew', () => {
  const value = memoizePerWave(counting());
  expect([value(), value(), value(1), value(), value(1)]).toEqual([1, 2, 3, 4, 5]);
});
