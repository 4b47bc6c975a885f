import { describe, expect, expectTypeOf, it } from 'vitest';
import { dropUndefined } from '../../src/base/defined.ts';

describe('dropUndefined', () => {
  it('leaves out what is undefined and keeps every other value', () => {
    const fields = { a: 1, b: undefined, c: null, d: false, e: '' };
    expect(Object.entries(dropUndefined(fields))).toEqual([
      ['a', 1],
      ['c', null],
      ['d', false],
      ['e', ''],
    ]);
  });

  it('gives fields that may be undefined as optional ones', () => {
    const hint: string | undefined = ['x'].at(1);
    const result = dropUndefined({ message: 'm', hint });
    expectTypeOf(result).toExtend<{ message: string; hint?: string }>();
    expect(Object.keys(result)).toEqual(['message']);
  });
});
