import { describe, expect, test } from 'vitest';
import { BackgroundPool } from '../../src/hooks/lifetime.ts';
import type { Answer } from '../../src/hooks/handler.ts';
import type { LateOutcome } from '../../src/hooks/dispatch-record.ts';
import { bash, engineOf, gate, handler, MOMENT, untilAborted } from './handlers.ts';

describe('a background handler', () => {
  test('is not waited for; its answer arrives late', async () => {
    const goOn = gate();
    const late: LateOutcome[] = [];
    const engine = engineOf(
      [
        handler(
          'behind',
          async () => {
            await goOn.passed;
            return { decision: { effect: 'deny', reason: 'too late', context: 'news' } };
          },
          { background: true },
        ),
      ],
      { onLate: (outcome) => late.push(outcome) },
    );
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict).toMatchObject({
      effect: 'pass',
      context: [],
      outcomes: [{ hook: 'behind', status: 'background', effect: 'pass', decision: null }],
      slowest: null,
    });
    expect(late).toEqual([]);
    goOn.open();
    await engine.idle();
    expect(late).toEqual([
      {
        dispatchId: expect.any(String),
        event: { ...MOMENT, ...bash('ls') },
        outcome: expect.objectContaining({
          hook: 'behind',
          status: 'decided',
          effect: 'deny',
          decision: { effect: 'deny', reason: 'too late', context: 'news' },
        }),
        exchanges: [],
      },
    ]);
  });

  test('that fails arrives late as a failure', async () => {
    const late: LateOutcome[] = [];
    const engine = engineOf(
      [handler('behind', () => Promise.reject(new TypeError('boom')), { background: true })],
      { onLate: (outcome) => late.push(outcome) },
    );
    await engine.dispatch(bash('ls'));
    await engine.idle();
    expect(late[0]?.outcome).toMatchObject({
      status: 'failed',
      failure: { kind: 'threw', message: 'boom' },
    });
  });

  test('does not receive the signal of the dispatch', async () => {
    const controller = new AbortController();
    const late: LateOutcome[] = [];
    const goOn = gate();
    const engine = engineOf(
      [
        handler(
          'behind',
          async (_input, signal) => {
            await goOn.passed;
            return { decision: { context: String(signal.aborted) } };
          },
          { background: true },
        ),
      ],
      { onLate: (outcome) => late.push(outcome) },
    );
    await engine.dispatch(bash('ls'), { signal: controller.signal });
    controller.abort();
    goOn.open();
    await engine.idle();
    expect(late[0]?.outcome.decision).toEqual({ context: 'false' });
  });

  test('never has more than seven others beside it', async () => {
    let running = 0;
    let most = 0;
    const goOn = gate();
    const full = gate();
    const engine = engineOf(
      Array.from({ length: 20 }, (_, index) =>
        handler(
          `h${index}`,
          async () => {
            most = Math.max(most, ++running);
            if (running === 8) full.open();
            await goOn.passed;
            running--;
            return {};
          },
          { background: true },
        ),
      ),
    );
    await engine.dispatch(bash('ls'));
    await full.passed;
    expect(running).toBe(8);
    goOn.open();
    await engine.idle();
    expect([running, most]).toEqual([0, 8]);
  });

  test('the limit can be set', async () => {
    const order: string[] = [];
    const one = (id: string) =>
      handler(
        id,
        async () => {
          order.push(`${id} starts`);
          await new Promise(setImmediate);
          order.push(`${id} ends`);
          return {};
        },
        { background: true },
      );
    const engine = engineOf([one('a'), one('b')], { backgroundLimit: 1 });
    await engine.dispatch(bash('ls'));
    await engine.idle();
    expect(order).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
  });

  test('is ended when the engine closes; what still waited is not started', async () => {
    const late: LateOutcome[] = [];
    let startCount = 0;
    const one = (id: string) =>
      handler(
        id,
        (_input, signal) => {
          startCount++;
          return untilAborted(signal);
        },
        { background: true },
      );
    const engine = engineOf([one('a'), one('b')], {
      backgroundLimit: 1,
      onLate: (outcome) => late.push(outcome),
    });
    await engine.dispatch(bash('ls'));
    await engine.close();
    expect(startCount).toBe(1);
    expect(late.map(({ outcome }) => [outcome.hook, outcome.failure])).toEqual([
      ['a', { kind: 'killed', message: 'ended' }],
      ['b', { kind: 'killed', message: 'was not started before the engine closed' }],
    ]);
  });

  test('a subscriber that throws ends nothing', async () => {
    let lateCount = 0;
    const engine = engineOf(
      ['a', 'b'].map((id) => handler(id, async () => ({}), { background: true })),
      {
        backgroundLimit: 1,
        onLate: () => {
          lateCount++;
          throw new TypeError('subscriber');
        },
      },
    );
    await engine.dispatch(bash('ls'));
    await engine.idle();
    expect(lateCount).toBe(2);
  });
});

describe('a handler that goes on in the background', () => {
  test('is reported at once and again when it ends', async () => {
    const answer = gate<Answer>();
    const late: LateOutcome[] = [];
    const engine = engineOf([handler('detached', () => ({ late: answer.passed }))], {
      onLate: (outcome) => late.push(outcome),
    });
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict.outcomes).toMatchObject([{ hook: 'detached', status: 'background' }]);
    answer.open({ decision: { context: 'at last' }, notes: ['took long'] });
    await engine.idle();
    expect(late).toMatchObject([
      {
        outcome: {
          hook: 'detached',
          status: 'decided',
          notes: ['took long'],
          decision: { context: 'at last' },
        },
      },
    ]);
  });

  test('and then rejects is a late failure', async () => {
    const late: LateOutcome[] = [];
    const engine = engineOf(
      [handler('detached', async () => ({ late: Promise.reject(new TypeError('died')) }))],
      { onLate: (outcome) => late.push(outcome) },
    );
    await engine.dispatch(bash('ls'));
    await engine.idle();
    expect(late[0]?.outcome.failure).toEqual({ kind: 'threw', message: 'died' });
  });

  test('although it ran beside the dispatch already is reported once, with its real answer', async () => {
    const late: LateOutcome[] = [];
    const answer = Promise.resolve<Answer>({ decision: { context: 'real' } });
    const engine = engineOf([handler('both', () => ({ late: answer }), { background: true })], {
      onLate: (outcome) => late.push(outcome),
    });
    await engine.dispatch(bash('ls'));
    await engine.idle();
    expect(late.map(({ outcome }) => [outcome.status, outcome.decision])).toEqual([
      ['decided', { context: 'real' }],
    ]);
  });

  test('is ended by closing the engine', async () => {
    const late: LateOutcome[] = [];
    const engine = engineOf(
      [handler('detached', (_input, signal) => ({ late: untilAborted(signal) }))],
      { onLate: (outcome) => late.push(outcome) },
    );
    await engine.dispatch(bash('ls'));
    await engine.close();
    expect(late[0]?.outcome.failure).toEqual({ kind: 'killed', message: 'ended' });
  });
});

test('an idle pool is idle at once, also after it was busy', async () => {
  const pool = new BackgroundPool(1);
  const later = () => new Promise((resolve) => setImmediate(resolve, 'later'));
  const idle = () => pool.waitUntilIdle().then(() => 'idle');
  expect(await Promise.race([idle(), later()])).toBe('idle');
  const job = gate();
  pool.add(() => job.passed);
  expect(await Promise.race([idle(), later()])).toBe('later');
  job.open();
  await pool.waitUntilIdle();
  expect(await Promise.race([idle(), later()])).toBe('idle');
});

test('text that comes late counts on every event, for it goes to the next request', async () => {
  const late: LateOutcome[] = [];
  const engine = engineOf(
    [
      handler('slow', () => ({ decision: { context: 'news', wake: true } }), {
        event: 'Notification',
        background: true,
      }),
    ],
    { onLate: (outcome) => late.push(outcome) },
  );
  await engine.dispatch({ name: 'Notification', type: 'idle', message: 'waiting' });
  await engine.idle();
  expect(late[0]?.outcome).toMatchObject({
    decision: { context: 'news', wake: true },
    notes: [],
  });
});
