import fc from 'fast-check';
import ignore from 'ignore';
import { expect, test } from 'vitest';
import { parsePathPattern } from '../../../src/permissions/rules/path-pattern.ts';
import { matchSegments } from '../../../src/permissions/rules/segment-glob.ts';

const names = fc.array(fc.constantFrom('a', 'b', 'ab', '.env'), { minLength: 1, maxLength: 5 });
const parts = fc.array(fc.constantFrom('**', '**', 'a', 'b', '*', 'a*', '?', '[ab]', '.env'), {
  minLength: 2,
  maxLength: 5,
});

function matchPart(part: string, name: string): boolean {
  return ignore().add(`/${part}`).ignores(name);
}

test('a glob matches what a line of .gitignore does', () => {
  fc.assert(
    fc.property(parts, names, fc.constantFrom('', '/'), (glob, file, end) => {
      // What a lone `**` means for the first name is not the same in all readers.
      fc.pre(glob.some((part) => part !== '**'));
      const text = `${glob.join('/')}${end}`;
      const expected = ignore().add(text).ignores(file.join('/'));
      expect([text, file, matchSegments(text, file.join('/'), matchPart)]).toEqual([
        text,
        file,
        expected,
      ]);
    }),
    { numRuns: 3000 },
  );
});

test('each pair of a part and a name is looked at once, however many ** there are', () => {
  const hostile = fc.record({
    depth: fc.integer({ min: 1, max: 200 }),
    repeats: fc.integer({ min: 1, max: 60 }),
    part: fc.constantFrom('**/a/', '**/', '**/*/', '**/a*/**/'),
  });
  fc.assert(
    fc.property(hostile, ({ depth, repeats, part }) => {
      const glob = `/${part.repeat(repeats)}x`;
      let steps = 0;
      const file = `${'a/'.repeat(depth)}y`;
      matchSegments(glob, file, (each, name) => {
        steps += 1;
        return each === '*' || each === 'a*' || each === name;
      });
      expect(steps).toBeLessThanOrEqual(glob.split('/').length * (depth + 1));
    }),
  );
});

test.each(['**/a/'.repeat(30), `a${'/**'.repeat(40)}`, '**/'.repeat(50)])(
  'a rule with %s is judged for a deep path',
  (start) => {
    const { ignoringCase } = parsePathPattern(`/${start}/x`);
    expect(ignoringCase().ignores(`${'a/'.repeat(300)}y`)).toBe(false);
    expect(ignoringCase().ignores(`${'A/'.repeat(300)}x`)).toBe(true);
  },
);
