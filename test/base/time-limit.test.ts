import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { startTimeLimit } from '../../src/base/time-limit.ts';
import { until } from './directory.ts';

test('aborts when the time is over, with a time-out as the reason', async () => {
  const limit = startTimeLimit(new AbortController().signal, 1);
  await until(() => limit.signal.aborted);
  expect(limit.hasExpired()).toBe(true);
});

test.each([
  ['later', (caller: AbortController) => caller.abort()],
  ['already', () => {}],
])('aborts when the caller does so, %s', (when, abort) => {
  const caller = new AbortController();
  if (when === 'already') caller.abort();
  const limit = startTimeLimit(caller.signal, 60_000);
  abort(caller);
  expect({ aborted: limit.signal.aborted, isOver: limit.hasExpired() }).toEqual({
    aborted: true,
    isOver: false,
  });
  limit.clear();
});

test('leaves nothing behind once it is cleared', () => {
  const caller = new AbortController();
  const limit = startTimeLimit(caller.signal, 60_000);
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1);
  limit.clear();
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  caller.abort();
  expect(limit.signal.aborted).toBe(false);
});

test.each([2 ** 31, Infinity, Number.NaN])('a time of %d ms is not over at once', async (ms) => {
  const limit = startTimeLimit(new AbortController().signal, ms);
  const short = startTimeLimit(new AbortController().signal, 20);
  await until(() => short.signal.aborted);
  expect(limit.signal.aborted).toBe(false);
  limit.clear();
});
