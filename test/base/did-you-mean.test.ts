import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findClosestName, isMisspelling } from '../../src/base/did-you-mean.ts';

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

test.each([
  ['setting.json', 'settings.json', true],
  ['settings.josn', 'settings.json', true],
  ['SETTINGS.json', 'settings.json', true],
  ['hook', 'hooks', true],
  ['hoks', 'hooks', true],
  ['settings.json', 'settings.json', false],
  ['settings1.json', 'settings.json', false],
  ['settings.json~', 'settings.json', false],
  ['_hooks', 'hooks', false],
  ['hoo', 'hooks', false],
  ['settings.local.json', 'settings.json', false],
  ['.cloud', '.claude', false],
])('%j is a slip of %j: %j', (written, name, isSlip) => {
  expect(isMisspelling(written, name)).toBe(isSlip);
});
