import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  truncateText,
  isRecord,
  parseJson,
  getTypeName,
  stripByteOrderMark,
} from '../../src/base/json.ts';

describe('parsing', () => {
  test('gives the value, also after a byte-order mark', () => {
    expect(parseJson('{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
    expect(parseJson('\uFEFF[]')).toEqual({ ok: true, value: [] });
  });

  test('gives an error instead of throwing', () => {
    expect(parseJson('{')).toEqual({ ok: false, error: expect.any(String) });
    expect(parseJson('')).toEqual({ ok: false, error: expect.any(String) });
  });

  test('never throws, and reads back what was written', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseJson(text)));
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });
});

test('only a byte-order mark at the start is removed', () => {
  expect(stripByteOrderMark('\uFEFFa\uFEFF')).toBe('a\uFEFF');
  expect(stripByteOrderMark('')).toBe('');
});

test('records and the names of types', () => {
  const values = [{}, [], null, 'a', 1, true, undefined];
  expect(values.map(isRecord)).toEqual([true, false, false, false, false, false, false]);
  expect(values.map(getTypeName)).toEqual([
    'object',
    'array',
    'null',
    'string',
    'number',
    'boolean',
    'undefined',
  ]);
});

describe('cutting text', () => {
  test.each([
    ['abc', 5, 'abc'],
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab'],
    ['abc', 0, ''],
    ['a🙂', 2, 'a'],
    ['🙂🙂', 2, '🙂'],
  ])('%j at %d gives %j', (text, limit, cut) => {
    expect(truncateText(text, limit)).toBe(cut);
  });

  test('gives a beginning of at most that length, whole characters only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, limit) => {
        const cut = truncateText(text, limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(limit);
        if (text.length > limit) expect(cut.length).toBeGreaterThanOrEqual(limit - 1);
      }),
    );
  });
});
