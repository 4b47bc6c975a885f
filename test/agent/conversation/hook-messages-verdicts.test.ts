import { describe, expect, it } from 'vitest';
import {
  formatContexts,
  formatDenial,
  findReasonAsResult,
  collectValues,
  formatObjections,
  joinReasons,
} from '../../../src/agent/conversation/hook-messages.ts';
import type { Outcome, Verdict } from '../../../src/hooks/decision.ts';
import { createEmptyVerdict } from '../../../src/hooks/decision.ts';

const at = { event: 'PreToolUse', subject: 'Read' };

function outcome(hook: string, more: Partial<Outcome> = {}): Outcome {
  return {
    hook,
    dialect: 'inline',
    source: 'the test',
    status: 'decided',
    effect: 'pass',
    pass: 1,
    part: null,
    exitCode: 0,
    durationMs: 1,
    failure: null,
    onFailure: 'open',
    notes: [],
    stdout: null,
    stderr: null,
    decision: null,
    ...more,
  };
}

function verdict(more: Partial<Verdict>): Verdict {
  return { ...createEmptyVerdict('PreToolUse'), ...more };
}

describe('context of hooks for the model', () => {
  it('is empty when hooks give none', () => {
    expect(formatContexts(verdict({}), at)).toEqual([]);
  });

  it('is joined into one text with the names of its hooks', () => {
    const context = [
      { hook: 'one', text: 'first' },
      { hook: 'two', text: 'second' },
    ];
    expect(formatContexts(verdict({ context }), at)).toEqual([
      '<system-reminder>\nPreToolUse:Read hook additional context: first\n\nsecond\n(from one, two)\n</system-reminder>',
    ]);
  });

  it('has another heading for what a hook just printed', () => {
    const context = [
      { hook: 'one', text: 'printed' },
      { hook: 'two', text: 'named' },
    ];
    const outcomes = [outcome('one', { stdout: 'printed\n' }), outcome('two', { stdout: '{}' })];
    expect(
      formatContexts(verdict({ context, outcomes }), { event: 'SessionStart', subject: 'startup' }),
    ).toEqual([
      '<system-reminder>\nSessionStart:startup hook success: printed\n(from one)\n</system-reminder>',
      '<system-reminder>\nSessionStart hook additional context: named\n(from two)\n</system-reminder>',
    ]);
  });

  it('is bounded for all hooks together, and still names the hook of each text', () => {
    const long = 'x'.repeat(80_000);
    const context = [
      { hook: 'one', text: long },
      { hook: 'two', text: long },
      { hook: 'three', text: long },
    ];
    const outcomes = [outcome('one', { stdout: long })];
    const texts = formatContexts(verdict({ context, outcomes }), at);
    expect(texts.join('').length).toBeLessThan(101_000);
    expect(texts).toEqual([
      expect.stringMatching(/x\n\(from one\)\n<\/system-reminder>$/),
      expect.stringMatching(
        /x\n\[cut: too much context\]\n\n\[cut: too much context\]\n\(from two, three\)\n<\/system-reminder>$/,
      ),
    ]);
  });
});

describe('why a call is refused', () => {
  const refused = verdict({
    effect: 'deny',
    reasons: [
      { hook: 'one', text: 'fine with me' },
      { hook: 'two', text: 'no' },
      { hook: 'three', text: 'no' },
    ],
    outcomes: [
      outcome('one', { effect: 'allow' }),
      outcome('two', { effect: 'deny' }),
      outcome('three', { effect: 'deny' }),
    ],
  });

  it('lists the reasons of the hooks that refused it, each once', () => {
    expect(joinReasons(refused)).toBe('no');
    expect(formatDenial(refused, 'Bash')).toBe('PreToolUse:Bash hook error: no');
    expect(formatObjections(refused, at)).toHaveLength(2);
  });
});

describe('a reason that is the result of the refused call', () => {
  const asResult = (hook: string, more: Partial<Outcome> = {}): Outcome =>
    outcome(hook, {
      effect: 'deny',
      decision: { effect: 'deny', reason: hook, reasonAsResult: true },
      ...more,
    });
  const asError = (hook: string): Outcome =>
    outcome(hook, { effect: 'deny', decision: { effect: 'deny', reason: hook } });
  const refusedBy = (...outcomes: readonly Outcome[]): Verdict =>
    verdict({
      effect: 'deny',
      reasons: outcomes.map(({ hook }) => ({ hook, text: hook })),
      outcomes,
    });

  it('is one where every hook that refuses gives it so', () => {
    expect(findReasonAsResult(refusedBy(asResult('one')))).toBe('one');
    expect(findReasonAsResult(refusedBy(asResult('one'), asResult('two')))).toBe('one\ntwo');
    expect(findReasonAsResult(refusedBy(asResult('one'), outcome('passes')))).toBe('one');
  });

  it('is none when another hook refuses, or fails closed, or nobody refuses', () => {
    expect(findReasonAsResult(refusedBy(asResult('one'), asError('two')))).toBe(null);
    expect(findReasonAsResult(refusedBy(asError('one'), asResult('two')))).toBe(null);
    const failed = outcome('two', { effect: 'deny', status: 'failed' });
    expect(findReasonAsResult(refusedBy(asResult('one'), failed))).toBe(null);
    expect(findReasonAsResult(refusedBy(outcome('passes')))).toBe(null);
  });
});

describe('values of several hooks for one field', () => {
  it('are kept in their order; a value that is no list is left out', () => {
    const changes = {
      permissions: [
        { hook: 'one', value: [1, 2] },
        { hook: 'two', value: [3] },
      ],
    };
    expect(collectValues(verdict({ changes }), 'permissions')).toEqual([1, 2, 3]);
    expect(collectValues(verdict({ changes: { permissions: 'x' } }), 'permissions')).toEqual([]);
  });
});
