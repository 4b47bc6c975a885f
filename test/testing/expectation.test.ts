import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findExpectationProblem,
  fillPlaceholders,
  findDifferences,
  formatDifference,
} from '../../src/testing/expectation.ts';

const PLACES = new Map([
  ['$HOME', '/home/ada'],
  ['$WORKSPACE', '/work/a.b (c)'],
  ['$ROOT_A', '/roots/a'],
  ['$ROOT_AB', '/roots/ab'],
]);

describe('findDifferences', () => {
  it.each([
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: { b: 'x' } }, { a: { b: 'x', c: null } }],
    [[], []],
    [null, null],
    [{ a: null }, { a: null }],
    ['$WORKSPACE/x', '/work/a.b (c)/x'],
    ['rm -rf $HOME', 'rm -rf $HOME'],
    ['$ROOT_AB', '/roots/ab'],
    [{ includes: 'b' }, 'abc'],
    [{ includes: ['a', '$HOME'] }, 'a /home/ada'],
    [{ matches: '^a.c$' }, 'abc'],
    [{ matches: '^$WORKSPACE/\\d+$' }, '/work/a.b (c)/12'],
    [{ json: { a: { includes: 'x' } } }, '{"a":"xyz","b":1}'],
    [{ any: true }, null],
    [{ includes: 'a', matches: 'c$' }, 'abc'],
  ])('%j fits %j', (expected, found) => {
    expect(findDifferences(expected, found, PLACES)).toEqual([]);
  });

  it.each([
    [{ a: 1 }, { b: 1 }, [{ path: 'a', expected: 1, found: undefined }]],
    [{ a: null }, {}, [{ path: 'a', expected: null, found: undefined }]],
    [[1], [1, 2], [{ path: '', expected: [1], found: [1, 2] }]],
    [{ a: [1] }, { a: [2] }, [{ path: 'a[0]', expected: 1, found: 2 }]],
    [{ a: {} }, { a: [] }, [{ path: 'a', expected: {}, found: [] }]],
    [{ a: '1' }, { a: 1 }, [{ path: 'a', expected: '1', found: 1 }]],
    [{ includes: 'z' }, 'abc', [{ path: '', expected: { includes: 'z' }, found: 'abc' }]],
    [
      { includes: ['a', 'z'] },
      'abc',
      [{ path: '', expected: { includes: ['a', 'z'] }, found: 'abc' }],
    ],
    [{ matches: 'z' }, null, [{ path: '', expected: { matches: 'z' }, found: null }]],
    [{ json: {} }, 'no json', [{ path: '', expected: { json: {} }, found: 'no json' }]],
    [{ json: { a: 1 } }, '{"a":2}', [{ path: 'a', expected: 1, found: 2 }]],
    [{ a: { any: true } }, {}, [{ path: 'a', expected: { any: true }, found: undefined }]],
  ])('%j differs from %j', (expected, found, differences) => {
    expect(findDifferences(expected, found, PLACES)).toEqual(differences);
  });

  it('finds nothing between any JSON and itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!/"(?:includes|matches|json|any)":/u.test(JSON.stringify(value)));
        expect(findDifferences(value, structuredClone(value))).toEqual([]);
      }),
    );
  });

  it('finds nothing when fields are left out of what is expected', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[b-h]{1,3}$/u), fc.jsonValue()), (value) => {
        fc.pre(!/"(?:includes|matches|json|any)":/u.test(JSON.stringify(value)));
        expect(findDifferences(value, { ...value, a: 'more' })).toEqual([]);
      }),
    );
  });
});

describe('formatDifference', () => {
  it('names the path, what was expected and what was found', () => {
    expect(formatDifference({ path: 'effect', expected: 'deny', found: 'pass' })).toBe(
      'effect: expected "deny", found "pass"',
    );
    expect(formatDifference({ path: 'a', expected: 1, found: undefined })).toBe(
      'a: expected 1, found nothing',
    );
  });

  it('cuts long values', () => {
    const line = formatDifference({ path: 'a', expected: 'x', found: 'y'.repeat(10_000) });
    expect(line.length).toBeLessThan(500);
    expect(line).toContain('(10002)');
  });
});

describe('expectationProblem', () => {
  it.each([
    [{ a: { includes: 5 } }, 'e.a: "includes" should be a text or an array of texts, found number'],
    [{ a: [{ any: false }] }, 'e.a[0]: "any" should be true'],
    [{ matches: 5 }, 'e: "matches" should be a regular expression as text, found number'],
    [
      { json: { a: { includes: null } } },
      'e.json.a: "includes" should be a text or an array of texts, found null',
    ],
  ])('%j can never hold', (expected, problem) => {
    expect(findExpectationProblem(expected, 'e')).toBe(problem);
  });

  it('names a broken regular expression', () => {
    expect(findExpectationProblem({ matches: '(' }, 'e')).toMatch(
      /^e: "matches" is not a regular expression/u,
    );
  });

  it.each([{ a: 1 }, { includes: 'x', other: 1 }, [], 'x', null])('%j may hold', (expected) => {
    expect(findExpectationProblem(expected, 'e')).toBe(null);
  });
});

describe('fillPlaceholders', () => {
  it('uses the longest name that fits, and replaces every one', () => {
    expect(fillPlaceholders('$ROOT_AB:$ROOT_A:$ROOT_AB', PLACES)).toBe(
      '/roots/ab:/roots/a:/roots/ab',
    );
  });
});
