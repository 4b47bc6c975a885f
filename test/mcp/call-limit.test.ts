import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { startCallLimit } from '../../src/mcp/call-limit.ts';
import { until } from '../base/directory.ts';

function timers(): number {
  return process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
}

test('a call that is done leaves nothing behind, also when its question is answered later', () => {
  const caller = new AbortController();
  const before = timers();
  const limit = startCallLimit(caller.signal, 600_000);
  const resume = limit.pause();
  limit.clear();
  resume();
  limit.restart();
  expect([timers(), getEventListeners(caller.signal, 'abort').length]).toEqual([before, 0]);
});

test('time stands still until every question is answered, whatever the server sends meanwhile', async () => {
  const limit = startCallLimit(new AbortController().signal, 10);
  const resumes = [limit.pause(), limit.pause()];
  limit.restart();
  resumes[0]?.();
  const other = startCallLimit(new AbortController().signal, 50);
  await until(() => other.hasExpired());
  const whileAsked = limit.hasExpired();
  resumes[1]?.();
  await until(() => limit.hasExpired());
  expect(whileAsked).toBe(false);
});

test('a call that fails does so with the reason', () => {
  const limit = startCallLimit(new AbortController().signal, 600_000);
  const reason = new TypeError('unreadable');
  limit.fail(reason);
  expect([limit.signal.reason, limit.hasExpired()]).toEqual([reason, false]);
  limit.clear();
});
