import { expect, test } from 'vitest';
import type { Outcome } from '../../src/hooks/decision.ts';
import { countTraceEntries } from '../../src/trace/stats.ts';
import { outcomeOf } from '../hooks/handlers.ts';
import { entryOf } from './records.ts';

function line(...outcomes: readonly Partial<Outcome>[]): string {
  return JSON.stringify(entryOf({ outcomes: outcomes.map(outcomeOf) }));
}

function entriesOf(...lines: readonly string[]): readonly Uint8Array[] {
  return lines.map((text) => Buffer.from(text));
}

test('runs, failures, refusals and times are counted per hook', () => {
  const times = Array.from({ length: 100 }, (_, index) => index + 1);
  const entries = entriesOf(
    ...times.map((durationMs) => line({ durationMs })),
    line(
      { hook: 'two', durationMs: 500, status: 'failed' },
      { hook: 'two', durationMs: 7, effect: 'deny' },
    ),
    line({ hook: 'two', durationMs: 8, effect: 'stop' }, { hook: 'two', status: 'background' }),
  );
  expect(countTraceEntries(entries)).toEqual({
    hooks: [
      { hook: 'two', runs: 3, failures: 1, refusals: 2, p50Ms: 8, p95Ms: 500, maxMs: 500 },
      { hook: 'one', runs: 100, failures: 0, refusals: 0, p50Ms: 50, p95Ms: 95, maxMs: 100 },
    ],
    dispatches: 102,
    elsewhere: 0,
    unreadable: 0,
  });
});

test('late answers count as runs, not as dispatches', () => {
  const late = { ...entryOf({ outcomes: [outcomeOf()] }), type: 'late' };
  expect(countTraceEntries(entriesOf(JSON.stringify(late)))).toMatchObject({
    dispatches: 0,
    hooks: [{ runs: 1 }],
  });
});

test('entries that cannot be read are counted and lose nothing else', () => {
  const broken = ['not json', '{"outcomes":5}', 'null', '[]', '{"type":"disp'];
  expect(countTraceEntries(entriesOf(line({}), ...broken, line({})))).toMatchObject({
    hooks: [{ hook: 'one', runs: 2 }],
    dispatches: 2,
    unreadable: 5,
  });
});

test('outcomes of another shape are passed over', () => {
  const entry = {
    type: 'dispatch',
    outcomes: [null, 5, {}, { hook: 1 }, { hook: 'a', durationMs: 'x' }],
  };
  expect(countTraceEntries(entriesOf(JSON.stringify(entry)))).toEqual({
    hooks: [],
    dispatches: 1,
    elsewhere: 0,
    unreadable: 0,
  });
});
