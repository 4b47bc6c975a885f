import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Decision,
  type Effect,
  EFFECTS,
  isRefusal,
  type Outcome,
  type Stop,
  pickStrictest,
} from '../../src/hooks/decision.ts';
import { mergeOutcomes, type MergeRules } from '../../src/hooks/merge.ts';
import { outcomeOf } from './handlers.ts';

const RULES: MergeRules = {
  event: 'PreToolUse',
  stop: 'obeyed',
  changes: { input: 'last', context: 'join' },
  rewrittenInput: null,
};

const effects = fc.constantFrom(...EFFECTS);
const texts = fc.string({ minLength: 1, maxLength: 8 });
const passes = fc.constantFrom<1 | 2>(1, 2);

const decisions: fc.Arbitrary<Decision> = fc.record(
  { effect: effects, reason: texts, context: texts, notice: texts, title: texts },
  { requiredKeys: [] },
);

const decided: fc.Arbitrary<Outcome> = fc
  .record({ decision: decisions, pass: passes, durationMs: fc.nat(1000) })
  .map((input) => outcomeOf(input));

const failed: fc.Arbitrary<Outcome> = fc
  .record({
    onFailure: fc.constantFrom('open' as const, 'closed' as const),
    pass: passes,
    message: texts,
  })
  .map(({ onFailure, pass, message }) =>
    outcomeOf({
      status: 'failed',
      onFailure,
      pass,
      failure: { kind: 'exit', message },
      decision: null,
    }),
  );

const outcomeLists = fc
  .array(fc.oneof(decided, failed), { maxLength: 8 })
  .map((list) => list.map((outcome, index) => ({ ...outcome, hook: `hook-${index}` })));

function merge(outcomes: readonly Outcome[], rules: Partial<MergeRules> = {}) {
  return mergeOutcomes({ ...RULES, ...rules }, outcomes, []);
}

function deciding(hook: string, decision: Decision, input: Partial<Outcome> = {}): Outcome {
  return outcomeOf({ hook, decision, ...input });
}

/** What one outcome alone may contribute, written down independently of the merge. */
function contribution(outcome: Outcome): Effect {
  if (outcome.failure !== null) return outcome.onFailure === 'closed' ? 'deny' : 'pass';
  const effect = outcome.decision?.effect ?? 'pass';
  const tightens = effect === 'deny' || effect === 'ask';
  return outcome.pass === 1 || tightens ? effect : 'pass';
}

describe('the effect', () => {
  test('is that of the strictest outcome', () => {
    fc.assert(
      fc.property(outcomeLists, (outcomes) => {
        const ranks = outcomes.map((outcome) => EFFECTS.indexOf(contribution(outcome)));
        expect(merge(outcomes).effect).toBe(EFFECTS[Math.max(0, ...ranks)]);
      }),
    );
  });

  test('does not depend on the order of the outcomes', () => {
    const shuffled = outcomeLists.chain((outcomes) =>
      fc.tuple(
        fc.constant(outcomes),
        fc.shuffledSubarray(outcomes, { minLength: outcomes.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(merge(one).effect).toBe(merge(other).effect);
      }),
    );
  });

  test('is never milder for one more outcome', () => {
    fc.assert(
      fc.property(outcomeLists, fc.oneof(decided, failed), (outcomes, more) => {
        const before = EFFECTS.indexOf(merge(outcomes).effect as Effect);
        const after = EFFECTS.indexOf(merge([...outcomes, more]).effect as Effect);
        expect(after).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  test('orders pass, allow, ask, defer, deny from mildest to strictest', () => {
    expect(EFFECTS).toEqual(['pass', 'allow', 'ask', 'defer', 'deny']);
    expect(pickStrictest('defer', 'ask')).toBe('defer');
    expect(EFFECTS.filter(isRefusal)).toEqual(['deny']);
    expect(isRefusal('stop')).toBe(true);
  });
});

describe('texts', () => {
  test('keep declared order and the id of their hook', () => {
    fc.assert(
      fc.property(outcomeLists, (outcomes) => {
        const { reasons, context, messages } = merge(outcomes);
        const first = outcomes.filter(({ pass }) => pass === 1);
        const of = (key: 'context' | 'notice') =>
          first.flatMap(({ hook, decision }) => {
            const text = decision?.[key];
            return text === undefined ? [] : [{ hook, text }];
          });
        expect(context).toEqual(of('context'));
        expect(messages).toEqual(of('notice'));
        const ids = outcomes.map(({ hook }) => hook);
        const positions = reasons.map(({ hook }) => ids.indexOf(hook));
        expect(positions).toEqual(positions.toSorted((one, other) => one - other));
      }),
    );
  });

  test('every reason is kept, also those of milder outcomes', () => {
    const verdict = merge([
      deciding('a', { effect: 'ask', reason: 'look first' }),
      deciding('b', { effect: 'deny', reason: 'no secrets' }),
      deciding('c', { effect: 'deny', reason: 'not here' }),
    ]);
    expect(verdict.reasons).toEqual([
      { hook: 'a', text: 'look first' },
      { hook: 'b', text: 'no secrets' },
      { hook: 'c', text: 'not here' },
    ]);
  });

  test('empty ones are left out', () => {
    const verdict = merge([deciding('a', { effect: 'deny', reason: '', context: '', notice: '' })]);
    expect(verdict).toMatchObject({ effect: 'deny', context: [], messages: [] });
  });

  test('a refusal without a reason names its hook', () => {
    const missing = (hook: string) => `Blocked by ${hook}, which gave no reason`;
    expect(merge([deciding('a', { effect: 'deny' })]).reasons).toEqual([
      { hook: 'a', text: missing('a') },
    ]);
    expect(merge([deciding('a', { effect: 'deny', reason: '' })]).reasons).toEqual([
      { hook: 'a', text: missing('a') },
    ]);
    const stopping = merge([deciding('a', { stop: { reason: '', pending: 'skip' } })]);
    expect(stopping).toMatchObject({
      reasons: [{ hook: 'a', text: missing('a') }],
      stop: { reason: missing('a'), pending: 'skip' },
    });
    const failure = { kind: 'threw', message: '' } as const;
    const failed = { status: 'failed', failure, decision: null, onFailure: 'closed' } as const;
    expect(merge([outcomeOf({ hook: 'b', ...failed })]).reasons).toEqual([
      { hook: 'b', text: missing('b') },
    ]);
    expect(merge([deciding('a', { effect: 'ask' }), deciding('b', {})]).reasons).toEqual([]);
  });
});

describe('a failure', () => {
  const failure = { kind: 'timeout', message: 'did not answer' } as const;

  test('lets the action go on when its handler fails open', () => {
    const outcome = outcomeOf({ status: 'failed', failure, decision: null });
    expect(merge([outcome])).toEqual({
      event: 'PreToolUse',
      effect: 'pass',
      stop: null,
      reasons: [],
      input: null,
      output: null,
      changes: {},
      context: [],
      messages: [],
      outcomes: [outcome],
      skipped: [],
      slowest: { hook: 'one', durationMs: 1 },
    });
  });

  test('refuses with its message when its handler fails closed', () => {
    const outcome = outcomeOf({ status: 'failed', failure, onFailure: 'closed', decision: null });
    const verdict = merge([outcome, deciding('b', { effect: 'allow' })]);
    expect(verdict.effect).toBe('deny');
    expect(verdict.reasons).toEqual([{ hook: 'one', text: 'did not answer' }]);
  });
});

describe('stop', () => {
  const skip: Stop = { reason: 'enough', pending: 'skip' };
  const run: Stop = { reason: 'after this', pending: 'run' };

  test('that skips becomes the effect, whatever the others answer', () => {
    fc.assert(
      fc.property(outcomeLists, fc.nat(8), (outcomes, index) => {
        const stopping = deciding('stopper', { stop: skip });
        const verdict = merge([...outcomes.slice(0, index), stopping, ...outcomes.slice(index)]);
        expect(verdict.effect).toBe('stop');
        expect(verdict.stop).toEqual(skip);
      }),
    );
  });

  test('that lets the action run leaves the effect alone', () => {
    const verdict = merge([deciding('a', { stop: run }), deciding('b', { effect: 'ask' })]);
    expect(verdict).toMatchObject({ effect: 'ask', stop: run });
  });

  test('that skips wins over one that does not, in any order', () => {
    const outcomes = [deciding('a', { stop: run }), deciding('b', { stop: skip })];
    expect(merge(outcomes).stop).toEqual(skip);
    expect(merge(outcomes.toReversed()).stop).toEqual(skip);
  });

  test('the first declared one of a kind is kept', () => {
    const other = { reason: 'also', pending: 'skip' } as const;
    const outcomes = [deciding('a', { stop: skip }), deciding('b', { stop: other })];
    expect(merge(outcomes)).toMatchObject({
      stop: skip,
      reasons: [
        { hook: 'a', text: 'enough' },
        { hook: 'b', text: 'also' },
      ],
    });
  });

  test('ends over any refusal where the event is defined so', () => {
    const outcomes = [
      deciding('a', { effect: 'deny', reason: 'go on' }),
      deciding('b', { stop: skip }),
    ];
    expect(merge(outcomes, { stop: 'over-refusal' })).toMatchObject({ effect: 'pass', stop: skip });
  });

  test('has no effect where the event ignores it', () => {
    expect(merge([deciding('a', { stop: skip })], { stop: 'ignored' })).toMatchObject({
      effect: 'pass',
      stop: null,
    });
  });

  test('of the second pass counts', () => {
    const verdict = merge([deciding('a', { stop: skip }, { pass: 2 })]);
    expect(verdict).toMatchObject({ effect: 'stop', stop: skip });
  });
});

describe('the second pass', () => {
  test.each([
    ['deny', 'deny'],
    ['ask', 'ask'],
    ['defer', 'pass'],
    ['allow', 'pass'],
    ['pass', 'pass'],
  ] as const)('that answers %s counts as %s', (said, counted) => {
    const verdict = merge([deciding('a', { effect: said, reason: 'because' }, { pass: 2 })]);
    expect(verdict.effect).toBe(counted);
    expect(verdict.reasons).toEqual(counted === 'pass' ? [] : [{ hook: 'a', text: 'because' }]);
  });

  test('changes nothing and adds no context', () => {
    const changes = { title: 'last', output: 'last', context: 'join' } as const;
    const decision = { title: 'new', output: 'new', context: 'more', notice: 'hear' };
    const verdict = merge([deciding('a', decision, { pass: 2 })], { changes });
    expect(verdict).toMatchObject({ changes: {}, output: null, context: [], messages: [] });
  });

  test('cannot undo an earlier decision', () => {
    const first = deciding('a', { effect: 'deny', reason: 'no' });
    const second = deciding('a', { effect: 'allow' }, { pass: 2 });
    expect(merge([first, second]).effect).toBe('deny');
  });
});

describe('changes', () => {
  const outcomes = [
    deciding('a', { title: 'one', output: 1 }),
    deciding('b', {}),
    deciding('c', { title: 'two', output: 2 }),
  ];

  test.each([
    ['last', 'two'],
    ['first', 'one'],
    [
      'join',
      [
        { hook: 'a', value: 'one' },
        { hook: 'c', value: 'two' },
      ],
    ],
  ] as const)('merge by the rule %s', (rule, expected) => {
    expect(merge(outcomes, { changes: { title: rule } }).changes).toEqual({ title: expected });
  });

  test('the output has a field of its own', () => {
    const verdict = merge(outcomes, { changes: { output: 'last' } });
    expect(verdict).toMatchObject({ output: 2, changes: {} });
  });

  test('falsy values count as given', () => {
    const verdict = merge([deciding('a', { retry: true }), deciding('b', { retry: false })], {
      changes: { retry: 'last' },
    });
    expect(verdict.changes).toEqual({ retry: false });
  });

  test('fields that the event does not list are left out', () => {
    expect(merge(outcomes, { changes: {} })).toMatchObject({ changes: {}, output: null });
  });

  test('fields without an answer are absent', () => {
    expect(merge([deciding('a', {})], { changes: { title: 'join' } }).changes).toEqual({});
  });
});

describe('the rewritten input', () => {
  const rewrittenInput = { command: 'ls' };

  test.each(['pass', 'allow', 'ask', 'defer'] as const)('stays with the effect %s', (effect) => {
    expect(merge([deciding('a', { effect })], { rewrittenInput }).input).toEqual(rewrittenInput);
  });

  test('is cleared by a refusal', () => {
    expect(merge([deciding('a', { effect: 'deny' })], { rewrittenInput }).input).toBeNull();
  });

  test('is cleared by a stop that skips and kept by one that does not', () => {
    const stopping = (pending: 'skip' | 'run') => [
      deciding('a', { stop: { reason: 'r', pending } }),
    ];
    expect(merge(stopping('skip'), { rewrittenInput }).input).toBeNull();
    expect(merge(stopping('run'), { rewrittenInput }).input).toEqual(rewrittenInput);
  });
});

describe('the slowest hook', () => {
  test('is the first declared one of those that took longest', () => {
    fc.assert(
      fc.property(outcomeLists, (outcomes) => {
        const longest = Math.max(...outcomes.map(({ durationMs }) => durationMs));
        const expected = outcomes.find(({ durationMs }) => durationMs === longest);
        const { slowest } = merge(outcomes);
        expect(slowest).toEqual(
          expected === undefined ? null : { hook: expected.hook, durationMs: expected.durationMs },
        );
      }),
    );
  });

  test('is none that runs in the background', () => {
    const background = outcomeOf({ hook: 'b', status: 'background', durationMs: 99 });
    expect(merge([background]).slowest).toBeNull();
    expect(merge([outcomeOf(), background]).slowest).toEqual({ hook: 'one', durationMs: 1 });
  });
});

test('merging the same outcomes twice gives the same verdict and leaves them as they were', () => {
  fc.assert(
    fc.property(outcomeLists, (outcomes) => {
      const before = structuredClone(outcomes);
      const changes = { title: 'last', context: 'join' } as const;
      expect(merge(outcomes, { changes })).toEqual(merge(outcomes, { changes }));
      expect(outcomes).toEqual(before);
    }),
  );
});

test('outcomes and skipped hooks are passed on as they are', () => {
  const skipped = [{ hook: 'x', kind: 'withheld', why: 'untrusted' }] as const;
  const outcomes = [outcomeOf(), outcomeOf({ hook: 'two' })];
  const verdict = mergeOutcomes(RULES, outcomes, skipped);
  expect(verdict).toMatchObject({ outcomes, skipped });
});
