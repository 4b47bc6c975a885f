import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HookEngine } from '../../src/hooks/engine.ts';
import type { Handler } from '../../src/hooks/handler.ts';
import type { DispatchRecord } from '../../src/hooks/dispatch-record.ts';
import { bash, deciding, engineOf, gate, handler, untilAborted } from './handlers.ts';

const CLOSED = { name: 'AbortError', message: 'the hook engine was closed' };

function guard(started: { open(): void }, wanted: Partial<Handler> = {}): Handler {
  return handler(
    'guard',
    (_input, signal) => {
      started.open();
      return untilAborted(signal);
    },
    wanted,
  );
}

/** What became of a dispatch, in the order in which things became known. */
function watched(dispatched: Promise<unknown>, log: string[]): Promise<void> {
  return dispatched.then(
    () => void log.push('passed'),
    () => void log.push('rejected'),
  );
}

async function closed(engine: HookEngine, log: string[]): Promise<void> {
  await engine.close();
  log.push('closed');
}

describe('closing an engine', () => {
  const signals: readonly [string, { signal?: AbortSignal }][] = [
    ['without a signal', {}],
    ['with a signal of the caller', { signal: new AbortController().signal }],
  ];

  test.each(signals)('rejects a dispatch %s instead of letting it pass', async (_, options) => {
    const records: DispatchRecord[] = [];
    const startGate = gate();
    const engine = engineOf([guard(startGate)], { onDispatch: (record) => records.push(record) });
    const dispatched = engine.dispatch(bash('ls'), options);
    await startGate.passed;
    const closing = engine.close();
    await expect(dispatched).rejects.toMatchObject(CLOSED);
    await closing;
    expect(records).toMatchObject([
      { aborted: true, verdict: { outcomes: [{ failure: { kind: 'killed' } }] } },
    ]);
  });

  test.each(signals)('waits for a dispatch %s', async (_, options) => {
    const log: string[] = [];
    const startGate = gate();
    const engine = engineOf([guard(startGate), guard(startGate, { id: 'other' })]);
    const dispatched = watched(engine.dispatch(bash('ls'), options), log);
    await startGate.passed;
    await Promise.all([closed(engine, log), dispatched]);
    expect(log).toEqual(['rejected', 'closed']);
  });

  test('gives up on a handler that ignores the signal', async () => {
    const log: string[] = [];
    const engine = engineOf([handler('deaf', () => new Promise(() => undefined))]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const dispatched = watched(engine.dispatch(bash('ls')), log);
    const bothEnded = Promise.all([closed(engine, log), dispatched]);
    await vi.advanceTimersByTimeAsync(3999);
    expect(log).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await bothEnded;
    expect(log).toEqual(['rejected', 'closed']);
  });

  test('leaves nothing that could be dispatched to', async () => {
    const engine = engineOf([deciding('guard', { effect: 'deny' })]);
    await engine.close();
    await expect(engine.dispatch(bash('ls'))).rejects.toMatchObject(CLOSED);
  });

  test('twice has the same effect as once', async () => {
    const engine = engineOf([]);
    await engine.close();
    await expect(engine.close()).resolves.toBeUndefined();
  });
});

test('a signal of the caller may be used for many dispatches at once', async () => {
  const warnings: string[] = [];
  const listen = (warning: Error): number => warnings.push(warning.name);
  process.on('warning', listen);
  const controller = new AbortController();
  const running = Array.from({ length: 30 }, () => gate());
  let startCount = 0;
  const engine = engineOf([
    handler('long', (_input, signal) => {
      running[startCount++]?.open();
      return untilAborted(signal);
    }),
  ]);
  const { signal } = controller;
  const dispatched = running.map(() => engine.dispatch(bash('ls'), { signal }));
  await Promise.all(running.map(({ passed }) => passed));
  controller.abort('enough');
  const ends = await Promise.allSettled(dispatched);
  await new Promise(setImmediate);
  process.off('warning', listen);
  expect(ends).toEqual(running.map(() => ({ status: 'rejected', reason: 'enough' })));
  expect(warnings).toEqual([]);
});
