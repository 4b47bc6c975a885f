import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findClosestName } from '../../src/base/did-you-mean.ts';

const KNOWN = ['PreToolUse', 'PostToolUse', 'Stop'] as const;

test.each([
  ['PreTolUse', 'PreToolUse'],
  ['pretooluse', 'PreToolUse'],
  ['PostToolUsed', 'PostToolUse'],
  ['Stpo', 'Stop'],
  ['Stqp', 'Stop'],
  ['pots', null],
  ['Sto', 'Stop'],
  ['README', null],
  ['', null],
])('%j probably stands for %j', (written, meant) => {
  expect(findClosestName(written, KNOWN)).toBe(meant);
});

test('a known name stands for itself', () => {
  const lists = fc.uniqueArray(fc.string({ minLength: 1 }), {
    minLength: 1,
    selector: (name) => name.toLowerCase(),
  });
  fc.assert(
    fc.property(lists, (names) => {
      for (const name of names) expect(findClosestName(name, names)).toBe(name);
    }),
  );
});

test('among no names none is near', () => {
  expect(findClosestName('anything', [])).toBeNull();
});
