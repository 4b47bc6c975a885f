import { expect, onTestFinished, test, vi } from 'vitest';
import { IdleTimer } from '../../../src/cli/chat/idle-timer.ts';

function startTimer(waitMs: number) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const onIdle = vi.fn<() => void>();
  const timer = new IdleTimer(waitMs, onIdle);
  return { timer, onIdle };
}

test('calls back once, so long after the last key', () => {
  const { timer, onIdle } = startTimer(60_000);
  timer.start();
  vi.advanceTimersByTime(59_000);
  timer.restart();
  vi.advanceTimersByTime(59_000);
  expect(onIdle).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  timer.restart();
  vi.advanceTimersByTime(120_000);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

test('does not call back when it is stopped, not started, or to wait never', () => {
  const { timer, onIdle } = startTimer(60_000);
  timer.restart();
  timer.start();
  timer.stop();
  new IdleTimer(0, onIdle).start();
  vi.advanceTimersByTime(120_000);
  expect(onIdle).not.toHaveBeenCalled();
});
