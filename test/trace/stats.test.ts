import path from 'node:path';
import { expect, test } from 'vitest';
import type { Outcome } from '../../src/hooks/decision.ts';
import { readTraceStats } from '../../src/trace/stats.ts';
import { createDirectory, write } from '../base/directory.ts';
import { outcomeOf } from '../hooks/handlers.ts';
import { entryOf } from './records.ts';

function line(...outcomes: readonly Partial<Outcome>[]): string {
  return `${JSON.stringify(entryOf({ outcomes: outcomes.map(outcomeOf) }))}\n`;
}

test('runs, failures, refusals and times are counted per hook over all files that are kept', () => {
  const directory = createDirectory();
  const times = Array.from({ length: 100 }, (_, index) => index + 1);
  write(
    path.join(directory, 'trace.jsonl'),
    times.map((durationMs) => line({ durationMs })).join(''),
  );
  write(
    path.join(directory, 'trace.1.jsonl'),
    line(
      { hook: 'two', durationMs: 500, status: 'failed' },
      { hook: 'two', durationMs: 7, effect: 'deny' },
    ) + line({ hook: 'two', durationMs: 8, effect: 'stop' }, { hook: 'two', status: 'background' }),
  );
  write(path.join(directory, 'trace.2.jsonl'), line({ hook: 'too old' }));
  expect(readTraceStats(directory, 2)).toEqual({
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
  const directory = createDirectory({ 'trace.jsonl': `${JSON.stringify(late)}\n` });
  expect(readTraceStats(directory, 1)).toMatchObject({ dispatches: 0, hooks: [{ runs: 1 }] });
});

test('lines that cannot be read are counted and lose nothing else', () => {
  const directory = createDirectory({
    'trace.jsonl': `${line({})}not json\n{"outcomes":5}\nnull\n[]\n\n${line({})}{"type":"disp`,
  });
  expect(readTraceStats(directory, 5)).toMatchObject({
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
  const directory = createDirectory({ 'trace.jsonl': JSON.stringify(entry) });
  expect(readTraceStats(directory, 1)).toEqual({
    hooks: [],
    dispatches: 1,
    elsewhere: 0,
    unreadable: 0,
  });
});

test('without a trace there is nothing to count', () => {
  expect(readTraceStats(path.join(createDirectory(), 'none'), 5)).toEqual({
    hooks: [],
    dispatches: 0,
    elsewhere: 0,
    unreadable: 0,
  });
});
