import { describe, expect, test, vi } from 'vitest';
import type { Handler } from '../../src/hooks/handler.ts';
import { bash, engineOf, handler } from './handlers.ts';

describe('handlers that do not fit', () => {
  test('and share the predicate are tested once for an event, and again for the next', async () => {
    const fits = vi.fn((_event: unknown, names: readonly string[]) => `not for ${names[0]}`);
    const engine = engineOf(['a', 'b', 'c'].map((id) => handler(id, () => ({}), { fits })));
    const { skipped } = await engine.dispatch(bash('ls'));
    expect(skipped).toEqual(
      ['a', 'b', 'c'].map((hook) => ({ hook, kind: 'misfit', why: 'not for Bash' })),
    );
    await engine.dispatch(bash('ls'));
    expect(fits).toHaveBeenCalledTimes(2);
  });

  test('are tested each on their own when the predicate is a method of a class', async () => {
    class Picky implements Handler {
      readonly id: string;
      readonly dialect = 'test';
      readonly source = 'picky.ts';
      readonly event = 'PreToolUse';
      readonly vocabulary = 'claude';
      readonly onFailure = 'open';
      constructor(id: string) {
        this.id = id;
      }
      fits(): string | null {
        return this.id === 'yes' ? null : `${this.id} does not want it`;
      }
      run() {
        return { decision: { context: this.id } };
      }
    }
    const { context, skipped } = await engineOf([new Picky('no'), new Picky('yes')]).dispatch(
      bash('ls'),
    );
    expect(context).toEqual([{ hook: 'yes', text: 'yes' }]);
    expect(skipped).toEqual([{ hook: 'no', kind: 'misfit', why: 'no does not want it' }]);
  });
});
