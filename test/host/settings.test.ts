import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSetting, SETTINGS, type Settings } from '../../src/host/settings.ts';

type Name = keyof Settings;

function read(name: string, written: unknown): unknown {
  return findSetting(name)?.read(written);
}

describe('values that are read', () => {
  test.each<[Name, unknown, unknown]>([
    ['hooks.enabled', true, true],
    ['hooks.enabled', 'on', true],
    ['hooks.enabled', 'No', false],
    ['hooks.timeoutMs', 1.5, 1.5],
    ['hooks.timeoutMs', ' 500 ', 500],
    ['hooks.onFailure', 'block', 'block'],
    ['hooks.disabled', [], []],
    [
      'hooks.disabled',
      ['a', { id: 'b' }, { id: 'c', root: '/r' }, { id: 'd', sha256: 'e' }],
      [
        { id: 'a', root: null },
        { id: 'b', root: null },
        { id: 'c', root: '/r' },
        { id: 'd', root: null, sha256: 'e' },
      ],
    ],
    [
      'hooks.overrides',
      { a: { timeoutMs: 5, onFailure: 'block', profile: 'sdk' }, b: {} },
      { a: { timeoutMs: 5, onFailure: 'block', profile: 'sdk' }, b: {} },
    ],
    ['env.pass', ['A', 'B'], ['A', 'B']],
    ['trace.maxDays', '3', 3],
  ])('%s from %j', (name, written, value) => {
    expect(read(name, written)).toEqual({ value });
  });
});

describe('values that are expected', () => {
  test.each<[Name, unknown, string]>([
    ['hooks.enabled', 1, 'true or false'],
    ['hooks.timeoutMs', 0, 'a number above 0'],
    ['hooks.timeoutMs', -1, 'a number above 0'],
    ['hooks.timeoutMs', '', 'a number above 0'],
    ['hooks.timeoutMs', 'Infinity', 'a number above 0'],
    ['hooks.timeoutMs', null, 'a number above 0'],
    ['hooks.onFailure', 'closed', '"open" or "block"'],
    ['hooks.disabled', 'a', 'an array of hook ids, or of objects with "id" and "root"'],
    ['hooks.disabled', [5], 'an array of hook ids, or of objects with "id" and "root"'],
    [
      'hooks.disabled',
      [{ id: 'a', root: 5 }],
      'an array of hook ids, or of objects with "id" and "root"',
    ],
    [
      'hooks.disabled',
      [{ id: 'a', sha256: 5 }],
      'an array of hook ids, or of objects with "id" and "root"',
    ],
    ['hooks.overrides', [], 'an object by hook id, found array'],
    ['hooks.overrides', { a: 5 }, 'an object for "a"'],
    ['hooks.overrides', { a: { x: 1 } }, 'for "a" only timeoutMs, onFailure, profile, sandbox'],
    ['hooks.overrides', { a: { timeoutMs: 0 } }, '"timeoutMs" of "a" to be a number above 0'],
    ['env.pass', ['A', 5], 'an array of names'],
    ['trace.maxDays', 0, 'a number above 0'],
  ])('%s rejects %j', (name, written, expected) => {
    expect(read(name, written)).toEqual({ expected });
  });
});

test('any value is read or refused, never thrown', () => {
  const names = fc.constantFrom(...Object.keys(SETTINGS));
  fc.assert(
    fc.property(names, fc.jsonValue(), (name, written) => {
      const result = read(name, written);
      expect(Object.keys(result as object)).toEqual([
        expect.stringMatching(/^(?:value|expected)$/),
      ]);
    }),
  );
});

test('every default can be written down and read again', () => {
  for (const [name, { defaultValue: standard, read: readSetting }] of Object.entries(SETTINGS)) {
    expect([name, readSetting(standard)]).toEqual([name, { value: standard }]);
  }
});

test('a workspace may only tighten a few', () => {
  const touchable = Object.entries(SETTINGS).filter(([, { tighten }]) => tighten !== undefined);
  expect(touchable.map(([name]) => name)).toEqual([
    'hooks.onFailure',
    'hooks.sandbox',
    'agent.maxTurns',
    'plugins.isolation',
    'sandbox.mode',
    'sandbox.network',
    'bash.maxOutputBytes',
    'cline.cancel',
    'cline.maxContextChars',
  ]);
});
