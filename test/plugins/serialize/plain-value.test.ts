import { describe, expect, it } from 'vitest';
import {
  toPlainText,
  toPlainData,
  readReason,
} from '../../../src/plugins/serialize/plain-value.ts';

const LIMIT = 1000;

describe('what JSON can express', () => {
  const values: readonly unknown[] = [
    null,
    true,
    -1.5,
    Number.NaN,
    'é "quoted"\u2028',
    [1, 'a', undefined, () => 1, [Number.POSITIVE_INFINITY]],
    { a: 1, left: undefined, out: Symbol('x'), at: new Date(0), '': {} },
    new Map([[1, 2]]),
    Object('boxed'),
    Object.create(null),
    { toJSON: () => ({ toJSON: () => 'twice', own: 1 }) },
  ];

  it.each(values.map((value) => [JSON.stringify(value), value]))(
    'is written as %s',
    (text, value) => {
      expect(toPlainText(value, LIMIT)).toEqual({ text, isExact: true, isCut: false });
    },
  );

  it('stays the value that it was', () => {
    const value = { at: new Date(0) };
    expect(toPlainData(value)).toBe(value);
  });
});

describe('what JSON cannot express is written in words', () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle['self'] = circle;
  const twice = { a: 1 };
  const trap = {
    get good() {
      return 1;
    },
    get bad(): number {
      throw new TypeError('no');
    },
  };
  const nested = Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 'deep');
  const list = new Proxy([], {
    get() {
      throw new TypeError('no list');
    },
  });

  it.each([
    ['what contains itself', circle, '{"a":1,"self":"[circular]"}'],
    ['a big integer', [10n], '["10"]'],
    ['a getter that throws', trap, '{"good":1,"bad":"[cannot be read: no]"}'],
    ['a toJSON that throws', { toJSON: () => trap.bad }, '"[cannot be read: no]"'],
    ['a list that is none', list, '(it cannot be shown: no list)'],
    ['nothing', undefined, '(undefined)'],
    ['a function', () => 1, '(function)'],
  ])('%s', (_what, value, text) => {
    expect(toPlainText(value, LIMIT)).toEqual({ text, isExact: false, isCut: false });
    expect(toPlainData(value)).toBe(text);
  });

  it('what is nested too deep', () => {
    const { text, isExact } = toPlainText(nested, LIMIT);
    expect([isExact, text.includes('"[nested too deep]"')]).toEqual([false, true]);
  });

  it('but the same object twice is no circle', () => {
    expect(toPlainText([twice, twice], LIMIT)).toMatchObject({
      text: '[{"a":1},{"a":1}]',
      isExact: true,
    });
  });
});

describe('what is too long', () => {
  it('is cut, and the rest is not read', () => {
    let readCount = 0;
    const rows = Array.from({ length: 100_000 }, () => ({
      get row() {
        readCount += 1;
        return 'x'.repeat(90);
      },
    }));
    const { text, isCut } = toPlainText(rows, LIMIT);
    expect([text.length, isCut, readCount < 20]).toEqual([LIMIT, true, true]);
  });

  it('is text with a note', () => {
    const text = 'y'.repeat(100_000_000);
    const note = '\n[cut: 100000000 characters in all]';
    expect(String(toPlainData(text)).slice(-note.length - 1)).toBe(`y${note}`);
    expect(String(toPlainData({ text })).slice(-50)).toContain('[cut: only the first 100000');
  });
});

it.each([
  ['an error', new TypeError('broken'), 'broken'],
  ['a text', 'broken', 'broken'],
  ['nothing', undefined, 'undefined'],
  ['an error whose message is none', Object.assign(new TypeError(), { message: 5 }), '5'],
  ['an object without a text', Object.create(null), 'it threw something that cannot be shown'],
])('the message of a thrown value is read: %s', (_what, thrown, reason) => {
  expect(readReason(thrown)).toBe(reason);
});
