import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDispatchEntry, createLateEntry, redactEntry } from '../../src/trace/entry.ts';
import { bash, MOMENT, outcomeOf } from '../hooks/handlers.ts';
import { recordOf } from './records.ts';

describe('the entry of a dispatch', () => {
  test('holds event, outcomes and verdict, with decisions', () => {
    const verdict = {
      effect: 'deny',
      reasons: [{ hook: 'one', text: 'no' }],
      context: [{ hook: 'one', text: 'hint' }],
      messages: [{ hook: 'one', text: 'hear' }],
      input: { command: 'pwd' },
      outcomes: [outcomeOf({ effect: 'deny', stdout: 'out', decision: { effect: 'deny' } })],
      skipped: [{ hook: 'two', kind: 'withheld', why: 'untrusted' }],
      slowest: { hook: 'one', durationMs: 1 },
    } as const;
    expect(createDispatchEntry({ ...recordOf(verdict), aborted: true })).toEqual({
      type: 'dispatch',
      id: 'd1',
      call: { tool: 'Bash', paths: [] },
      at: '2026-01-01T00:00:00.123Z',
      event: 'PreToolUse',
      sessionId: 's',
      taskId: 't',
      cwd: '/ws',
      root: '/ws',
      effect: 'deny',
      aborted: true,
      stop: null,
      reasons: verdict.reasons,
      context: verdict.context,
      messages: verdict.messages,
      outcomes: verdict.outcomes,
      skipped: verdict.skipped,
      slowest: verdict.slowest,
      input: { command: 'pwd' },
      data: { ...MOMENT, ...bash('ls') },
      exchanges: [],
    });
  });

  test('holds a decision without the form of its denial, which only the agent reads', () => {
    const decision = { effect: 'deny', reason: 'no' } as const;
    const form = { ...decision, reasonAsResult: true };
    const outcomes = [outcomeOf({ effect: 'deny', decision: form })];
    const entry = createDispatchEntry(recordOf({ outcomes }));
    expect(entry.outcomes.map((outcome) => outcome.decision)).toEqual([decision]);
  });

  test('holds no copy of the mutable input, which is no fact', () => {
    const mutableInput = { of: () => ({}), changes: () => [] };
    const event = { ...MOMENT, ...bash('ls'), handed: mutableInput };
    expect(createDispatchEntry({ ...recordOf(), event }).data).toEqual({
      ...MOMENT,
      ...bash('ls'),
    });
  });

  test('holds the beginning of long facts, and a margin so that a secret at the cut stays whole', () => {
    const record = recordOf();
    const event = { ...MOMENT, ...bash('x'.repeat(20_000)) };
    const { data } = createDispatchEntry({ ...record, event });
    const json = JSON.stringify(event);
    expect(data).toEqual({
      cut: 'longer than 8192 characters, cut',
      json: json.slice(0, 8192 + 1024),
    });
  });

  test.each([
    ['refer to themselves', circular(), /^cannot be written as JSON: /],
    ['hold a big integer', { big: 1n }, /^cannot be written as JSON: /],
  ])('is marked when facts %s', (_, input, cut) => {
    const event = { ...MOMENT, ...bash('x'), tool: { callId: 'c', name: 'T', input } };
    expect(createDispatchEntry({ ...recordOf(), event }).data).toEqual({
      cut: expect.stringMatching(cut),
    });
  });

  test('does not read the rest of what is nested too deeply', () => {
    const tool = { callId: 'c', name: 'T', input: nested(100_000) };
    const event = { ...MOMENT, ...bash('x'), tool };
    expect(createDispatchEntry({ ...recordOf(), event }).data).toMatchObject({
      cut: 'longer than 8192 characters, cut',
    });
  });

  test('survives an impossible time', () => {
    const event = { ...MOMENT, ...bash('x'), at: 1e20 };
    expect(() => createDispatchEntry({ ...recordOf(), event })).not.toThrow();
  });
});

test('the entry of a late answer', () => {
  const event = { ...MOMENT, ...bash('ls') };
  const outcome = outcomeOf({ effect: 'deny' });
  expect(createLateEntry({ dispatchId: 'd1', event, outcome, exchanges: [] })).toEqual({
    type: 'late',
    id: 'd1',
    call: { tool: 'Bash', paths: [] },
    at: '2026-01-01T00:00:00.123Z',
    event: 'PreToolUse',
    sessionId: 's',
    taskId: 't',
    cwd: '/ws',
    root: '/ws',
    effect: 'deny',
    aborted: false,
    stop: null,
    reasons: [],
    context: [],
    messages: [],
    outcomes: [outcome],
    skipped: [],
    slowest: null,
    input: null,
    data: null,
    exchanges: [],
  });
});

describe('redacting every text', () => {
  test('touches strings wherever they are, and nothing else', () => {
    const value = { a: 'x', b: [1, null, true, 'y', { c: 'z' }], d: undefined };
    expect(redactEntry(value, (text) => text.toUpperCase())).toEqual({
      a: 'X',
      b: [1, null, true, 'Y', { c: 'Z' }],
      d: undefined,
    });
  });

  test('cuts to 8 KB after the change, never inside a pair of surrogates', () => {
    expect(redactEntry('x'.repeat(9000), (text) => text)).toBe('x'.repeat(8192));
    expect(redactEntry(`${'x'.repeat(8191)}🙂`, (text) => text)).toBe('x'.repeat(8191));
    const records: number[] = [];
    redactEntry('x'.repeat(9000), (text) => {
      records.push(text.length);
      return text;
    });
    expect(records).toEqual([9000]);
  });

  test('ends at a depth that fits the stack', () => {
    expect(JSON.stringify(redactEntry(nested(100_000), String))).toContain('[nested too deeply]');
  });

  test('visits the same texts in the same order each time', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const visits = [0, 1].map(() => {
          const texts: string[] = [];
          redactEntry(value, (text) => {
            texts.push(text);
            return text;
          });
          return texts;
        });
        expect(visits[0]).toEqual(visits[1]);
      }),
    );
  });
});

function nested(levels: number): unknown {
  let value: unknown = 'end';
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

function circular(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}
