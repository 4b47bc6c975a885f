import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { EFFECTS } from '../../src/hooks/decision.ts';
import { createHookEngine } from '../../src/hooks/engine.ts';
import { EVENT_NAMES, EVENTS } from '../../src/hooks/events.ts';
import type { Handler } from '../../src/hooks/handler.ts';
import type { DispatchRecord, HandlerProgress } from '../../src/hooks/dispatch-record.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { bash, deciding, engineOf, gate, handler, MOMENT, untilAborted } from './handlers.ts';

describe('without a handler', () => {
  test('the verdict is empty and subscribers are not called', async () => {
    const records: DispatchRecord[] = [];
    const engine = engineOf([], { onDispatch: (record) => records.push(record) });
    expect(await engine.dispatch(bash('ls'))).toEqual({
      event: 'PreToolUse',
      effect: 'pass',
      stop: null,
      reasons: [],
      input: null,
      output: null,
      changes: {},
      context: [],
      messages: [],
      outcomes: [],
      skipped: [],
      slowest: null,
    });
    expect(records).toEqual([]);
  });

  test('handlers of other events do not count', async () => {
    const engine = engineOf([deciding('a', { effect: 'deny' }, { event: 'PermissionRequest' })]);
    expect((await engine.dispatch(bash('ls'))).outcomes).toEqual([]);
  });
});

describe('handlers of one event', () => {
  test('have all started before any of them ends', async () => {
    const startGates = { one: gate(), other: gate() };
    const waiting = (id: string, own: 'one' | 'other', awaited: 'one' | 'other'): Handler =>
      handler(id, async () => {
        startGates[own].open();
        await startGates[awaited].passed;
        return {};
      });
    const engine = engineOf([waiting('a', 'one', 'other'), waiting('b', 'other', 'one')]);
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict.outcomes.map(({ hook, status }) => [hook, status])).toEqual([
      ['a', 'decided'],
      ['b', 'decided'],
    ]);
  });

  test('answer in declared order whoever ends first', async () => {
    const lastEnded = gate();
    const engine = engineOf([
      handler('slow', async () => {
        await lastEnded.passed;
        return { decision: { effect: 'ask', reason: 'first', context: 'one' } };
      }),
      handler('quick', () => {
        lastEnded.open();
        return { decision: { effect: 'deny', reason: 'second', context: 'two' } };
      }),
    ]);
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict.reasons).toEqual([
      { hook: 'slow', text: 'first' },
      { hook: 'quick', text: 'second' },
    ]);
    expect(verdict.context).toEqual([
      { hook: 'slow', text: 'one' },
      { hook: 'quick', text: 'two' },
    ]);
  });

  test('of the first source come before those of the second', async () => {
    const engine = createHookEngine({
      sources: [
        { handlers: () => [deciding('a', { context: '1' })] },
        { handlers: () => [deciding('b', { context: '2' })] },
      ],
      moment: () => MOMENT,
    });
    const { context } = await engine.dispatch(bash('ls'));
    expect(context.map(({ hook }) => hook)).toEqual(['a', 'b']);
  });

  test('get the moment, overridden by the fields of the event', async () => {
    let handlerInput: unknown = null;
    const engine = engineOf([
      handler('a', ({ event, tool }) => {
        handlerInput = { event, tool };
        return {};
      }),
    ]);
    await engine.dispatch({ ...bash('ls'), taskId: 'other' });
    expect(handlerInput).toEqual({
      event: { ...MOMENT, ...bash('ls'), taskId: 'other' },
      tool: { name: 'Bash', input: { command: 'ls' }, part: null },
    });
  });

  test('that answer nothing at all have passed', async () => {
    const engine = engineOf([handler('a', () => undefined)]);
    expect((await engine.dispatch(bash('ls'))).outcomes).toEqual([
      {
        hook: 'a',
        dialect: 'test',
        source: 'a.ts',
        status: 'decided',
        effect: 'pass',
        pass: 1,
        part: null,
        exitCode: null,
        durationMs: expect.any(Number),
        failure: null,
        onFailure: 'open',
        notes: [],
        stdout: null,
        stderr: null,
        decision: {},
      },
    ]);
  });
});

describe('a handler that fails', () => {
  const failures: readonly [string, Handler['run'], string][] = [
    ['throws', () => raise('boom'), 'boom'],
    ['rejects', () => Promise.reject(new TypeError('late boom')), 'late boom'],
    ['throws something that is no error', () => raise.text('just text'), 'just text'],
  ];

  test.each(failures)(
    'because it %s has an outcome and nothing is lost',
    async (_, run, message) => {
      const engine = engineOf([handler('bad', run), deciding('good', { context: 'kept' })]);
      const verdict = await engine.dispatch(bash('ls'));
      expect(verdict).toMatchObject({
        effect: 'pass',
        context: [{ hook: 'good', text: 'kept' }],
        outcomes: [{ hook: 'bad', status: 'failed', failure: { kind: 'threw', message } }, {}],
      });
    },
  );

  test.each(failures)('because it %s refuses when it fails closed', async (_, run, message) => {
    const engine = engineOf([handler('bad', run, { onFailure: 'closed' })]);
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict).toMatchObject({ effect: 'deny', reasons: [{ hook: 'bad', text: message }] });
  });

  test('cannot refuse an event that cannot be refused', async () => {
    const bad = handler('bad', () => raise('boom'), {
      event: 'Notification',
      onFailure: 'closed',
    });
    const verdict = await engineOf([bad]).dispatch(createSampleEvent('Notification'));
    expect(verdict).toMatchObject({
      effect: 'pass',
      outcomes: [{ status: 'failed', effect: 'pass', onFailure: 'open' }],
    });
  });

  test('because it hangs is given up after its time', async () => {
    const engine = engineOf([
      handler('hangs', () => new Promise(() => undefined), { timeoutMs: 5, onFailure: 'closed' }),
      deciding('good', { context: 'kept' }),
    ]);
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict.outcomes[0]).toMatchObject({
      status: 'failed',
      effect: 'deny',
      failure: { kind: 'timeout', message: 'did not answer within 5 ms' },
    });
    expect(verdict.context).toEqual([{ hook: 'good', text: 'kept' }]);
  });

  test('after its time was up affects no other dispatch', async () => {
    const giveUp = gate();
    const engine = engineOf([
      handler('late', () => giveUp.passed.then(() => raise('too late')), { timeoutMs: 5 }),
    ]);
    const verdict = await engine.dispatch(bash('ls'));
    giveUp.open();
    await giveUp.passed;
    expect(verdict.outcomes[0]?.failure?.kind).toBe('timeout');
  });

  test('when its `fits` throws has an outcome, too', async () => {
    const engine = engineOf([
      handler('bad', () => ({}), { fits: () => raise('cannot tell'), onFailure: 'closed' }),
    ]);
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict).toMatchObject({
      effect: 'deny',
      outcomes: [{ hook: 'bad', failure: { kind: 'threw', message: 'cannot tell' } }],
      skipped: [],
    });
  });
});

describe('aborting', () => {
  test('rejects with the reason of the signal and leaves a record', async () => {
    const records: DispatchRecord[] = [];
    const running = gate();
    const engine = engineOf(
      [
        handler('long', (_input, signal) => {
          running.open();
          return untilAborted(signal);
        }),
      ],
      { onDispatch: (record) => records.push(record) },
    );
    const controller = new AbortController();
    const dispatched = engine.dispatch(bash('ls'), { signal: controller.signal });
    await running.passed;
    const reason = new RangeError('Ctrl-C');
    controller.abort(reason);
    await expect(dispatched).rejects.toBe(reason);
    expect(records).toEqual([
      {
        id: expect.any(String),
        event: { ...MOMENT, ...bash('ls') },
        aborted: true,
        exchanges: [],
        verdict: expect.objectContaining({
          outcomes: [
            expect.objectContaining({
              hook: 'long',
              failure: { kind: 'killed', message: 'ended' },
            }),
          ],
        }),
      },
    ]);
  });

  test('before the dispatch runs nothing', async () => {
    let hasRun = false;
    const engine = engineOf([
      handler('a', () => {
        hasRun = true;
        return {};
      }),
    ]);
    const signal = AbortSignal.abort('no');
    await expect(engine.dispatch(bash('ls'), { signal })).rejects.toBe('no');
    expect(hasRun).toBe(false);
  });

  test('gives up on a handler that ignores the signal', async () => {
    const records: DispatchRecord[] = [];
    const controller = new AbortController();
    const engine = engineOf(
      [
        handler('deaf', () => {
          controller.abort('stop');
          return new Promise(() => undefined);
        }),
      ],
      { onDispatch: (record) => records.push(record) },
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const dispatched = engine.dispatch(bash('ls'), { signal: controller.signal });
    const reason = dispatched.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(3999);
    expect(records).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reason).toBe('stop');
    expect(records[0]?.verdict.outcomes).toMatchObject([
      { hook: 'deaf', failure: { kind: 'killed' } },
    ]);
  });

  test('ends an ordered chain before the next one starts', async () => {
    const records: DispatchRecord[] = [];
    const controller = new AbortController();
    let hasRun = false;
    const engine = engineOf(
      [
        handler(
          'first',
          async () => {
            controller.abort('stop');
            return {};
          },
          { inOrder: true },
        ),
        handler(
          'second',
          () => {
            hasRun = true;
            return {};
          },
          { inOrder: true },
        ),
      ],
      { onDispatch: (record) => records.push(record) },
    );
    await expect(engine.dispatch(bash('ls'), { signal: controller.signal })).rejects.toBe('stop');
    expect(hasRun).toBe(false);
    expect(records[0]?.verdict.skipped).toEqual([
      { hook: 'second', kind: 'order', why: 'the dispatch was aborted before its turn' },
    ]);
  });

  test('a signal that never aborts keeps no listener', async () => {
    const { signal } = new AbortController();
    const engine = engineOf([handler('a', async () => ({}))]);
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    await engine.dispatch(bash('ls'), { signal });
    expect(listeners).toBe(0);
  });
});

describe('a handler that does not run', () => {
  test('because it is withheld is only in skipped', async () => {
    const engine = engineOf([
      deciding('a', { effect: 'deny' }, { withheld: () => 'untrusted: never trusted here' }),
    ]);
    const verdict = await engine.dispatch(bash('ls'));
    expect(verdict).toMatchObject({
      effect: 'pass',
      outcomes: [],
      skipped: [{ hook: 'a', kind: 'withheld', why: 'untrusted: never trusted here' }],
    });
  });

  test('because it does not fit has the reason, and trust is not checked', async () => {
    let askCount = 0;
    const engine = engineOf([
      deciding(
        'a',
        {},
        {
          fits: (_event, names) => (names.includes('Edit') ? null : `not for ${names[0]}`),
          withheld: () => {
            askCount++;
            return null;
          },
        },
      ),
    ]);
    const { skipped, outcomes } = await engine.dispatch(bash('ls'));
    expect({ skipped, outcomes, asked: askCount }).toEqual({
      skipped: [{ hook: 'a', kind: 'misfit', why: 'not for Bash' }],
      outcomes: [],
      asked: 0,
    });
  });

  test('is checked right before each run', async () => {
    let state: string | null = 'untrusted';
    const engine = engineOf([deciding('a', { effect: 'deny' }, { withheld: () => state })]);
    expect((await engine.dispatch(bash('ls'))).effect).toBe('pass');
    state = null;
    expect((await engine.dispatch(bash('ls'))).effect).toBe('deny');
  });
});

describe('names for matchers', () => {
  test.each([
    ['a tool event', bash('ls'), ['Bash', 'execute_command', 'run_commands']],
    ['an event with a subject', createSampleEvent('SessionStart'), ['startup']],
    ['an event without one', createSampleEvent('UserPromptSubmit'), []],
    ['a changed file', createSampleEvent('FileChanged', { file: 'C:\\x\\.env' }), ['.env']],
  ] as const)('of %s', async (_, event, expected) => {
    let records: readonly string[] = [];
    const engine = engineOf([
      deciding(
        'a',
        {},
        {
          event: event.name,
          fits: (_event, names) => {
            records = names;
            return null;
          },
        },
      ),
    ]);
    await engine.dispatch(event);
    expect(records).toEqual(expected);
  });
});

describe('sources', () => {
  function changeable(first: readonly Handler[]) {
    let handlers = first;
    const listeners = new Set<() => void>();
    return {
      source: {
        handlers: () => handlers,
        subscribe(listener: () => void) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      change(next: readonly Handler[]) {
        handlers = next;
        for (const listener of listeners) listener();
      },
      listeners,
    };
  }

  test('that change during a dispatch do not touch it, and count for the next', async () => {
    const running = gate();
    const goOn = gate();
    const set = changeable([
      handler('old', async () => {
        running.open();
        await goOn.passed;
        return { decision: { context: 'old' } };
      }),
      deciding('neighbour', { context: 'still here' }, { inOrder: true }),
    ]);
    const engine = createHookEngine({ sources: [set.source], moment: () => MOMENT });
    const dispatched = engine.dispatch(bash('ls'));
    await running.passed;
    set.change([deciding('new', { context: 'new' })]);
    goOn.open();
    expect((await dispatched).context.map(({ hook }) => hook)).toEqual(['old', 'neighbour']);
    expect((await engine.dispatch(bash('ls'))).context.map(({ hook }) => hook)).toEqual(['new']);
  });

  test('may be changed by a handler during its own dispatch', async () => {
    const set = changeable([]);
    const again = deciding('again', { context: 'changed' });
    set.change([
      handler('self', () => {
        set.change([again]);
        return { decision: { context: 'first' } };
      }),
    ]);
    const engine = createHookEngine({ sources: [set.source], moment: () => MOMENT });
    expect((await engine.dispatch(bash('ls'))).context).toEqual([{ hook: 'self', text: 'first' }]);
    expect((await engine.dispatch(bash('ls'))).context).toEqual([
      { hook: 'again', text: 'changed' },
    ]);
  });

  test('that throw lose only their own handlers, are reported, and are asked again', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error): number => warnings.push(warning.message);
    process.on('warning', listen);
    let isBroken = true;
    const engine = createHookEngine({
      sources: [
        { handlers: () => (isBroken ? raise('no list') : [deciding('late', { context: '1' })]) },
        { handlers: () => [deciding('good', { effect: 'deny', reason: 'no' })] },
      ],
      moment: () => MOMENT,
    });
    const hooks = async () => (await engine.dispatch(bash('ls'))).outcomes.map(({ hook }) => hook);
    const first = await hooks();
    isBroken = false;
    const second = await hooks();
    await new Promise(setImmediate);
    process.off('warning', listen);
    expect({ first, second }).toEqual({ first: ['good'], second: ['late', 'good'] });
    expect(warnings).toEqual(['a source of hooks threw, so none of its hooks run: no list']);
  });

  test('are unsubscribed once the engine is closed', async () => {
    const set = changeable([deciding('a', {})]);
    const engine = createHookEngine({ sources: [set.source], moment: () => MOMENT });
    expect(set.listeners.size).toBe(1);
    await engine.close();
    expect(set.listeners.size).toBe(0);
  });
});

test('a handler may dispatch again while it runs', async () => {
  const engine = engineOf([
    handler('outer', async ({ event }) => {
      const inner = await engine.dispatch(createSampleEvent('Notification'));
      return { decision: { context: `${event.name} saw ${inner.outcomes[0]?.hook}` } };
    }),
    handler('inner', () => ({}), { event: 'Notification' }),
  ]);
  const { context } = await engine.dispatch(bash('ls'));
  expect(context).toEqual([{ hook: 'outer', text: 'PreToolUse saw inner' }]);
});

test('a handler may dispatch its own event again', async () => {
  let depth = 0;
  const engine = engineOf([
    handler('recursive', async () => {
      if (++depth < 5) await engine.dispatch(bash('ls'));
      return { decision: { context: String(depth) } };
    }),
  ]);
  const { context } = await engine.dispatch(bash('ls'));
  expect(context).toEqual([{ hook: 'recursive', text: '5' }]);
});

describe('observers', () => {
  test('are called for each dispatch once, after its verdict', async () => {
    const records: DispatchRecord[] = [];
    const rewriting = deciding('a', { input: { command: 'ls -a' } });
    const engine = engineOf([rewriting, deciding('b', {})], {
      onDispatch: (record) => records.push(record),
    });
    const verdicts = [await engine.dispatch(bash('ls')), await engine.dispatch(bash('pwd'))];
    expect(records.map(({ verdict, aborted }) => ({ verdict, aborted }))).toEqual(
      verdicts.map((verdict) => ({ verdict, aborted: false })),
    );
    expect(new Set(records.map(({ id }) => id)).size).toBe(2);
  });

  test('are called when a handler starts and ends', async () => {
    const progressEvents: HandlerProgress[] = [];
    const engine = engineOf([handler('a', async () => raise('x')), deciding('b', {})], {
      onProgress: (progress) => progressEvents.push(progress),
    });
    await engine.dispatch(bash('ls'));
    expect(progressEvents).toEqual([
      { type: 'start', hook: 'a', event: 'PreToolUse' },
      { type: 'start', hook: 'b', event: 'PreToolUse' },
      { type: 'end', hook: 'b', event: 'PreToolUse' },
      { type: 'end', hook: 'a', event: 'PreToolUse' },
    ]);
  });

  test('that throw change nothing about the answer', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error): number => warnings.push(warning.message);
    process.on('warning', listen);
    const engine = engineOf([deciding('a', { effect: 'deny', reason: 'no' })], {
      onDispatch: () => raise('observer'),
      onProgress: () => raise('progress'),
    });
    expect((await engine.dispatch(bash('ls'))).effect).toBe('deny');
    await new Promise(setImmediate);
    process.off('warning', listen);
    expect(warnings).toContain('a subscriber to hook events threw: observer');
    expect(warnings).toContain('a subscriber to hook events threw: progress');
  });
});

describe('fields that an event does not have are ignored with a note', () => {
  const effects = EVENT_NAMES.flatMap((name) =>
    EFFECTS.filter((effect) => effect !== 'pass').map((effect) => ({ name, effect })),
  );

  test.each(effects)('$name, effect $effect', async ({ name, effect }) => {
    const row = EVENTS[name];
    const engine = engineOf([deciding('a', { effect, reason: 'because' }, { event: name })]);
    const verdict = await engine.dispatch(createSampleEvent(name));
    const counts = row.effects.includes(effect);
    const refusable = row.refusal === null ? 'cannot be refused' : `knows no "${effect}"`;
    expect(verdict.effect).toBe(counts ? effect : 'pass');
    expect(verdict.reasons).toEqual(counts ? [{ hook: 'a', text: 'because' }] : []);
    expect(verdict.outcomes[0]?.notes).toEqual(
      counts ? [] : [`${name} ${refusable}, so "${effect}" was ignored`],
    );
  });

  test.each(EVENT_NAMES)('%s, stop', async (name) => {
    const stop = { reason: 'enough', pending: 'skip' } as const;
    const engine = engineOf([deciding('a', { stop }, { event: name })]);
    const verdict = await engine.dispatch(createSampleEvent(name));
    const rule = EVENTS[name].stop;
    const effect = { obeyed: 'stop', ignored: 'pass', 'over-refusal': 'pass' }[rule];
    expect(verdict.effect).toBe(effect);
    expect(verdict.stop).toEqual(rule === 'ignored' ? null : stop);
    expect(verdict.outcomes[0]?.notes).toEqual(
      rule === 'ignored' ? [`${name} cannot stop the run, so "stop" was ignored`] : [],
    );
  });

  test.each(EVENT_NAMES)('%s, changes', async (name) => {
    const fields = { context: 'c', title: 't', prompt: 'p', display: 'd', worktreePath: '/w' };
    const engine = engineOf([deciding('a', fields, { event: name })]);
    const verdict = await engine.dispatch(createSampleEvent(name));
    const listed = Object.keys(fields).filter((field) => field in EVENTS[name].changes);
    expect(verdict.outcomes[0]?.notes).toEqual(
      Object.keys(fields)
        .filter((field) => !listed.includes(field))
        .map((field) => `${name} cannot change "${field}", so it was ignored`),
    );
    const inputs = [
      ...Object.keys(verdict.changes),
      ...(verdict.context.length > 0 ? ['context'] : []),
    ];
    expect(inputs.toSorted()).toEqual(listed.toSorted());
  });
});

describe('explain', () => {
  test('lists what would run and what not, and runs nothing', () => {
    const never = () => raise('must not run');
    const engine = engineOf([
      handler('a', never, { onFailure: 'closed', inOrder: true }),
      handler('b', never, { vocabulary: 'classic', background: true }),
      handler('c', never, { withheld: () => 'disabled' }),
      handler('d', never, { fits: () => 'not for this' }),
      handler('e', never, { vocabulary: 'sdk' }),
    ]);
    const planned = { dialect: 'test', times: 1, onFailure: 'open' };
    expect(engine.explain(bash('ls'))).toEqual({
      event: 'PreToolUse',
      runs: [
        {
          ...planned,
          hook: 'a',
          source: 'a.ts',
          how: 'in order',
          onFailure: 'closed',
          tool: { name: 'Bash', input: { command: 'ls' } },
        },
        {
          ...planned,
          hook: 'b',
          source: 'b.ts',
          how: 'in the background',
          tool: { name: 'execute_command', input: { command: 'ls', requires_approval: false } },
        },
        {
          ...planned,
          hook: 'e',
          source: 'e.ts',
          how: 'at once',
          tool: { name: 'run_commands', input: { commands: ['ls'] } },
        },
      ],
      skipped: [
        { hook: 'c', kind: 'withheld', why: 'disabled' },
        { hook: 'd', kind: 'misfit', why: 'not for this' },
      ],
    });
  });
});

test('explain lists a handler whose `fits` throws', () => {
  const engine = engineOf([
    handler('bad', () => ({}), { fits: () => raise('cannot tell') }),
    deciding('good', {}),
  ]);
  const { runs, skipped } = engine.explain(bash('ls'));
  expect(runs.map(({ hook }) => hook)).toEqual(['good']);
  expect(skipped).toEqual([
    {
      hook: 'bad',
      kind: 'misfit',
      why: 'threw when it was asked whether it fits: cannot tell',
    },
  ]);
});

function raise(message: string): never {
  throw new TypeError(message);
}

/** A plugin may throw anything; linters only know errors. */
raise.text = (text: string): never => {
  const thrown: unknown = text;
  throw thrown as Error;
};
