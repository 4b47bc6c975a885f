import { deserialize, serialize } from 'node:v8';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { HooklineError, isHooklineError } from '../../../../src/base/errors.ts';
import {
  serializeValue,
  deserializeValue,
} from '../../../../src/plugins/isolation/wire/serialize.ts';

/** What the channel does. */
function sent(value: unknown): unknown {
  return deserializeValue(deserialize(serialize(serializeValue(value))));
}

describe('a value that goes to another process', () => {
  it('arrives as it is when it is data of any kind', () => {
    const value = {
      none: undefined,
      nil: null,
      notANumber: Number.NaN,
      minusZero: -0,
      big: 12n,
      at: new Date(5),
      pattern: /a+/gu,
      map: new Map<unknown, unknown>([['a', new Set([1, 2])]]),
      bytes: new Uint8Array([1, 2]),
      list: [1, undefined, 'b'],
    };
    expect(sent(value)).toEqual(value);
    expect(Object.keys(sent(value) as object)).toEqual(Object.keys(value));
  });

  it.each(['constructor', '__proto__', 'toString'])('may be an error with the name %s', (name) => {
    const error = new Error('no');
    Object.defineProperty(error, 'name', { value: name });
    const arrived = sent(error);
    expect(arrived).toBeInstanceOf(Error);
    expect(arrived).toMatchObject({ name, message: 'no' });
  });

  it('may be circular', () => {
    const value: Record<string, unknown> = { name: 'ring', work: () => 1 };
    value['self'] = value;
    const arrived = sent(value) as Record<string, unknown>;
    expect(arrived['self']).toBe(arrived);
    expect(arrived['work']).toBe('[function work]');
  });

  it('has notes where something cannot be copied', () => {
    class Unreadable {
      get text(): string {
        throw new RangeError('no');
      }
    }
    const value = {
      work: () => 1,
      symbol: Symbol('s'),
      promise: Promise.resolve(1),
      stream: Readable.from(['a']),
      signal: new AbortController().signal,
      url: new URL('https://example.test/a'),
      proxy: new Proxy({ a: 1 }, {}),
      made: Object.assign(new Unreadable(), { b: 2 }),
      weak: new WeakMap(),
      get broken(): string {
        throw new TypeError('not today');
      },
    };
    expect(sent(value)).toEqual({
      work: '[function work]',
      symbol: '[Symbol(s)]',
      promise: '[object Promise]',
      stream: '[object Readable]',
      signal: '[object AbortSignal]',
      url: 'https://example.test/a',
      proxy: { a: 1 },
      made: { b: 2 },
      weak: '[object WeakMap]',
      broken: '[cannot be looked at: not today]',
    });
  });

  it('is cut where it is nested too deeply', () => {
    let value: unknown = 'bottom';
    for (let depth = 0; depth < 20_000; depth++) value = { below: value };
    let arrived = sent(value);
    let depth = 0;
    while (typeof arrived === 'object' && arrived !== null && 'below' in arrived) {
      arrived = arrived.below;
      depth += 1;
    }
    expect(arrived).toBe('[nested too deeply]');
    expect(depth).toBeGreaterThan(900);
  });
});

describe('an error that goes to another process', () => {
  it('keeps its name, message, stack, cause and fields', () => {
    class QuotaError extends Error {
      override readonly name = 'QuotaError';
      readonly retryable = true;
    }
    const error = new QuotaError('too much', { cause: new TypeError('inner') });
    const arrived = sent({ list: [error] }) as { list: [QuotaError] };
    const [again] = arrived.list;
    expect(again).toBeInstanceOf(Error);
    expect([again.name, again.message, again.retryable]).toEqual(['QuotaError', 'too much', true]);
    expect(again.stack).toBe(error.stack);
    expect(again.cause).toBeInstanceOf(TypeError);
  });

  it('is of the same kind where both processes know the kind', () => {
    const own = sent(new HooklineError('PLUGIN_LATE', { message: 'late', hint: 'earlier' }));
    expect(isHooklineError(own) && [own.code, own.message, own.hint]).toEqual([
      'PLUGIN_LATE',
      'late',
      'earlier',
    ]);
    const aborted = sent(new DOMException('enough', 'AbortError'));
    expect(aborted).toBeInstanceOf(DOMException);
    expect((aborted as DOMException).name).toBe('AbortError');
    const both = sent(new AggregateError([new RangeError('a')], 'both')) as AggregateError;
    expect([both.name, both.errors[0]]).toEqual(['AggregateError', new RangeError('a')]);
  });

  it('may be circular', () => {
    const error: Error & { self?: unknown } = new Error('ring');
    error.self = { again: error };
    const again = sent(error) as typeof error;
    expect((again.self as { again: unknown }).again).toBe(again);
  });
});
