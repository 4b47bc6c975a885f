import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Outcome, Verdict } from '../../src/hooks/decision.ts';
import type { Handler } from '../../src/hooks/handler.ts';
import type { DispatchRecord, HandlerProgress } from '../../src/hooks/dispatch-record.ts';
import { bash, deciding, engineOf, handler, outcomeOf, runCommands } from './handlers.ts';

const inOrder = { inOrder: true } as const;

function quiet(id: string, wanted: Partial<Handler> = {}): Handler {
  return handler(id, () => undefined, wanted);
}

function ending(controller: AbortController): Handler {
  return handler(
    'ending',
    () => {
      controller.abort('enough');
      return undefined;
    },
    inOrder,
  );
}

function passOf(hook: string, durationMs = 0): Outcome {
  return outcomeOf({ hook, source: `${hook}.ts`, durationMs });
}

/** Until the program is warm everything takes a while, and later something may disturb it. */
async function passesInNoTime(
  count: number,
  dispatch: () => Promise<Verdict>,
): Promise<readonly Outcome[]> {
  const found: Outcome[] = [];
  for (let time = 0; time < 100_000 && found.length < count; time++) {
    const { outcomes } = await dispatch();
    found.push(...outcomes.filter(({ durationMs }) => durationMs === 0));
  }
  return found;
}

/** The same verdict with all durations set to 0. */
function untimed(verdict: Verdict): Verdict {
  const outcomes = verdict.outcomes.map((outcome) => ({ ...outcome, durationMs: 0 }));
  return { ...verdict, outcomes, slowest: null };
}

describe('handlers that answer nothing', () => {
  test.each([
    ['in order', inOrder],
    ['at once', {}],
  ])('are all in the verdict, %s', async (_, wanted) => {
    const engine = engineOf(['a', 'b', 'c'].map((id) => quiet(id, wanted)));
    const verdict = await engine.dispatch(bash('ls'));
    expect(untimed(verdict)).toEqual({
      event: 'PreToolUse',
      effect: 'pass',
      stop: null,
      reasons: [],
      input: null,
      output: null,
      changes: {},
      context: [],
      messages: [],
      outcomes: ['a', 'b', 'c'].map((hook) => passOf(hook)),
      skipped: [],
      slowest: null,
    });
    expect(verdict.slowest?.durationMs).toBe(
      Math.max(...verdict.outcomes.map(({ durationMs }) => durationMs)),
    );
  });

  test('have run when the dispatch has begun, whether in order or not', () => {
    const ranHandlers: string[] = [];
    const noting = (id: string, wanted: Partial<Handler>): Handler =>
      handler(id, () => void ranHandlers.push(id), wanted);
    const engine = engineOf([noting('a', inOrder), noting('b', {}), noting('c', inOrder)]);
    const dispatched = engine.dispatch(bash('ls'));
    expect(ranHandlers).toEqual(['a', 'b', 'c']);
    return dispatched;
  });

  test('are listed with the time that they took', async () => {
    const busy = handler('busy', () => {
      const end = performance.now() + 5;
      while (performance.now() < end);
      return undefined;
    });
    const { outcomes, slowest } = await engineOf([quiet('a'), busy, quiet('b')]).dispatch(
      bash('ls'),
    );
    expect(outcomes.map(({ hook }) => hook)).toEqual(['a', 'busy', 'b']);
    expect(outcomes[1]?.durationMs).toBeGreaterThanOrEqual(5);
    expect(slowest).toEqual({ hook: 'busy', durationMs: outcomes[1]?.durationMs });
  });

  test.each([
    ['they', 'a', null],
    ['others', 'b', 'untrusted'],
  ])('do not count the time it took to decide whether %s may run', async (_, hook, why) => {
    let now = 0;
    const clock = vi.spyOn(systemClock, 'elapsed').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    const slowlyTrusted = quiet('a', {
      withheld: () => {
        now += 20;
        return why;
      },
    });
    const { outcomes } = await engineOf([slowlyTrusted, quiet('b')]).dispatch(bash('ls'));
    expect(outcomes.find((outcome) => outcome.hook === hook)?.durationMs).toBe(0);
  });

  test('share one frozen outcome for all dispatches in which they took no time', async () => {
    const engine = engineOf([quiet('a')]);
    const found = await passesInNoTime(3, () => engine.dispatch(bash('ls')));
    const [first] = found;
    expect(found).toEqual([passOf('a'), passOf('a'), passOf('a')]);
    expect(found.map((outcome) => outcome === first)).toEqual([true, true, true]);
    const parts = [first, first?.decision, first?.notes];
    expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true]);
  });

  test('leave another outcome for each part of a call', async () => {
    const fits: Handler['fits'] = (_event, _names, tool) => (tool?.part === 0 ? 'not that' : null);
    const engine = engineOf([quiet('a', { vocabulary: 'classic', fits })]);
    const firstOutcomes = await passesInNoTime(1, () => engine.dispatch(bash('ls')));
    const second = await passesInNoTime(1, () => engine.dispatch(runCommands('a', 'b')));
    expect([...firstOutcomes, ...second].map(({ part }) => part)).toEqual([null, 1]);
  });

  test('are reported as they start and end, and leave a record', async () => {
    const progressEvents: HandlerProgress[] = [];
    const records: DispatchRecord[] = [];
    const engine = engineOf([quiet('a', inOrder), quiet('b', inOrder)], {
      onProgress: (progress) => progressEvents.push(progress),
      onDispatch: (record) => records.push(record),
    });
    const verdicts = [await engine.dispatch(bash('ls')), await engine.dispatch(bash('ls'))];
    const event = 'PreToolUse';
    const once = ['a', 'b'].flatMap((hook) => [
      { type: 'start', hook, event },
      { type: 'end', hook, event },
    ]);
    expect(progressEvents).toEqual([...once, ...once]);
    expect(records.map(({ verdict, aborted }) => ({ verdict, aborted }))).toEqual(
      verdicts.map((verdict) => ({ verdict, aborted: false })),
    );
    expect(new Set(records.map(({ id }) => id)).size).toBe(2);
  });

  test('and handlers that do not run are distinguished', async () => {
    const engine = engineOf([
      quiet('a', inOrder),
      quiet('b', { ...inOrder, fits: () => 'not for this' }),
      quiet('c', { ...inOrder, withheld: () => 'untrusted: never' }),
      quiet('d', { ...inOrder, sameAs: 'd' }),
      quiet('e', { ...inOrder, sameAs: 'd' }),
    ]);
    const { outcomes, skipped } = await engine.dispatch(bash('ls'));
    expect(outcomes.map(({ hook }) => hook)).toEqual(['a', 'e']);
    expect(skipped).toEqual([
      { hook: 'b', kind: 'misfit', why: 'not for this' },
      { hook: 'c', kind: 'withheld', why: 'untrusted: never' },
      { hook: 'd', kind: 'repeat', why: 'the same hook is configured again as e, which runs' },
    ]);
  });
});

describe('after handlers that answered nothing', () => {
  test('a handler that rewrites makes them look again', async () => {
    const records: unknown[] = [];
    const looking = handler('looking', ({ tool }) => void records.push(tool?.input));
    const engine = engineOf([
      looking,
      quiet('ordered', inOrder),
      deciding('rewriter', { input: { command: 'new' } }),
    ]);
    const { outcomes, input } = await engine.dispatch(bash('old'));
    expect(input).toEqual({ command: 'new' });
    expect(records).toEqual([{ command: 'old' }, { command: 'new' }]);
    expect(outcomes.map(({ hook, pass }) => [hook, pass])).toEqual([
      ['looking', 1],
      ['ordered', 1],
      ['rewriter', 1],
      ['looking', 2],
      ['ordered', 2],
    ]);
  });

  test('an asynchronous handler is waited for, and those in order after it wait', async () => {
    const ranHandlers: string[] = [];
    const engine = engineOf([
      quiet('a', inOrder),
      handler(
        'later',
        async () => {
          await Promise.resolve();
          ranHandlers.push('later');
          return {};
        },
        inOrder,
      ),
      handler('after', () => void ranHandlers.push('after'), inOrder),
    ]);
    const { outcomes } = await engine.dispatch(bash('ls'));
    expect(ranHandlers).toEqual(['later', 'after']);
    expect(outcomes.map(({ hook }) => hook)).toEqual(['a', 'later', 'after']);
  });

  test('a handler that throws has failed, and the others go on', async () => {
    const engine = engineOf([
      quiet('a', inOrder),
      handler(
        'bad',
        () => {
          throw new TypeError('boom');
        },
        inOrder,
      ),
      quiet('b', inOrder),
    ]);
    const { outcomes } = await engine.dispatch(bash('ls'));
    expect(outcomes.map(({ hook, status, failure }) => [hook, status, failure])).toEqual([
      ['a', 'decided', null],
      ['bad', 'failed', { kind: 'threw', message: 'boom' }],
      ['b', 'decided', null],
    ]);
  });

  test('a handler that ends the dispatch ends the chain', async () => {
    const records: DispatchRecord[] = [];
    const controller = new AbortController();
    const engine = engineOf(
      [quiet('a', inOrder), ending(controller), quiet('b', inOrder), quiet('at once')],
      { onDispatch: (record) => records.push(record) },
    );
    const { signal } = controller;
    await expect(engine.dispatch(bash('ls'), { signal })).rejects.toBe('enough');
    expect(records.map(({ aborted, verdict }) => [aborted, verdict.skipped])).toEqual([
      [true, [{ hook: 'b', kind: 'order', why: 'the dispatch was aborted before its turn' }]],
    ]);
    expect(records[0]?.verdict.outcomes.map(({ hook }) => hook)).toEqual([
      'a',
      'ending',
      'at once',
    ]);
  });

  test('a handler that sees several parts of a call is asked about each', async () => {
    const records: unknown[] = [];
    const single = handler('single', ({ tool }) => void records.push(tool?.part), {
      ...inOrder,
      vocabulary: 'classic',
    });
    const engine = engineOf([quiet('whole', { ...inOrder, vocabulary: 'sdk' }), single]);
    const { outcomes } = await engine.dispatch(runCommands('a', 'b'));
    expect(records).toEqual([0, 1]);
    expect(outcomes.map(({ hook, part }) => [hook, part])).toEqual([
      ['whole', null],
      ['single', 0],
      ['single', 1],
    ]);
  });

  test('a handler that sees only one part of a call has that part in its outcome', async () => {
    const single = quiet('single', {
      vocabulary: 'classic',
      fits: (_event, _names, tool) => (tool?.part === 1 ? null : 'not that one'),
    });
    const { outcomes } = await engineOf([single]).dispatch(runCommands('a', 'b'));
    expect(outcomes.map(({ hook, part }) => [hook, part])).toEqual([['single', 1]]);
  });

  test('closing the engine from within a handler is waited for and rejects the dispatch', async () => {
    const closed: Promise<void>[] = [];
    const engine = engineOf([
      quiet('a', inOrder),
      handler('closing', () => void closed.push(engine.close()), inOrder),
    ]);
    await expect(engine.dispatch(bash('ls'))).rejects.toThrow('the hook engine was closed');
    await Promise.all(closed);
    expect(closed).toHaveLength(1);
  });
});
