import { describe, expect, test } from 'vitest';
import type { Handler } from '../../src/hooks/handler.ts';
import { bash, engineOf, handler } from './handlers.ts';

describe('a hook that is configured more than once', () => {
  const same = (id: string, wanted: Partial<Handler> = {}): Handler =>
    handler(id, () => ({ decision: { context: id } }), { sameAs: 'twin', ...wanted });

  test('runs once, as the last entry that would run defines', async () => {
    const verdict = await engineOf([same('a'), same('b')]).dispatch(bash('ls'));
    expect(verdict.context).toEqual([{ hook: 'b', text: 'b' }]);
    expect(verdict.skipped).toEqual([
      {
        hook: 'a',
        kind: 'repeat',
        why: 'the same hook is configured again as b, which runs',
      },
    ]);
  });

  test('runs as an earlier entry defines when the last does not fit or may not run', async () => {
    const misfit = same('misfit', { fits: () => 'not for this' });
    const withheld = same('withheld', { withheld: () => 'untrusted: never looked at' });
    const verdict = await engineOf([same('a'), misfit, withheld]).dispatch(bash('ls'));
    expect(verdict.outcomes.map(({ hook }) => hook)).toEqual(['a']);
    expect(verdict.skipped.map(({ hook, kind }) => [hook, kind])).toEqual([
      ['misfit', 'misfit'],
      ['withheld', 'withheld'],
    ]);
  });

  test('is explained in the same way', () => {
    const { runs, skipped } = engineOf([same('a'), same('b')]).explain(bash('ls'));
    expect(runs.map(({ hook }) => hook)).toEqual(['b']);
    expect(skipped.map(({ hook, kind }) => [hook, kind])).toEqual([['a', 'repeat']]);
  });
});
