import { getEventListeners } from 'node:events';
import { describe, expect, it, test } from 'vitest';
import {
  removeAbortListener,
  addAbortListener,
  waitOrAbort,
  startTimeLimit,
} from '../../src/base/abort.ts';
import { until } from './directory.ts';

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

describe('waiting for a signal', () => {
  it('calls every waiting callback, once', () => {
    const controller = new AbortController();
    const { signal } = controller;
    const called: string[] = [];
    const callbacks = ['a', 'b', 'c'].map((name) => () => void called.push(name));
    for (const callback of callbacks) addAbortListener(signal, callback);
    if (callbacks[1] !== undefined) removeAbortListener(signal, callbacks[1]);
    controller.abort();
    controller.abort();
    expect(called).toEqual(['a', 'c']);
  });

  it('uses one listener for all, and none when nothing waits any more', () => {
    const { signal } = new AbortController();
    const callbacks = Array.from({ length: 50 }, () => () => undefined);
    for (const callback of callbacks) addAbortListener(signal, callback);
    expect(listenersOf(signal)).toBe(1);
    for (const callback of callbacks) removeAbortListener(signal, callback);
    expect(listenersOf(signal)).toBe(0);
  });

  it('may begin again after the last one stopped waiting', () => {
    const controller = new AbortController();
    const { signal } = controller;
    let calls = 0;
    const count = (): void => void (calls += 1);
    addAbortListener(signal, count);
    removeAbortListener(signal, count);
    addAbortListener(signal, count);
    controller.abort();
    expect(calls).toBe(1);
  });

  it('leaves callbacks of other signals alone', () => {
    const { signal } = new AbortController();
    const stranger = (): void => undefined;
    removeAbortListener(signal, stranger);
    addAbortListener(signal, () => undefined);
    removeAbortListener(signal, stranger);
    expect(listenersOf(signal)).toBe(1);
  });
});

describe('work that ignores the signal', () => {
  it('is left behind when the signal aborts', async () => {
    const abort = new AbortController();
    const waiting = waitOrAbort(new Promise<never>(() => undefined), abort.signal);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it('gives its value, or its failure, when it comes first', async () => {
    const { signal } = new AbortController();
    expect(await waitOrAbort(Promise.resolve(1), signal)).toBe(1);
    await expect(waitOrAbort(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  });

  it('may fail unnoticed afterwards', async () => {
    const abort = new AbortController();
    let fail = (): void => undefined;
    const work = new Promise<never>((_resolve, reject) => {
      fail = () => reject(new Error('late'));
    });
    const waiting = waitOrAbort(work, abort.signal);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    fail();
  });
});

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
