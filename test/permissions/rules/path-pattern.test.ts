import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canMatchWrittenPath,
  type PathContext,
  parsePathPattern,
} from '../../../src/permissions/rules/path-pattern.ts';

const CONTEXT: PathContext = { cwd: '/work/app', root: '/work/app', home: '/home/user' };
const NAMES = ['.env', 'secrets', 'KEY.pem', 'a', 'ß', 'src-1'] as const;

describe('the literal of a path pattern', () => {
  test.each([
    ['./.env', '.env'],
    ['secrets/**', 'secrets'],
    ['**/*.Pem', '.pem'],
    ['//etc/../x', 'etc'],
    ['**', ''],
    [String.raw`\!x`, ''],
    ['[ab]cd', ''],
    ['straße/x', 'stra'],
  ])('of %s is "%s"', (content, literal) => {
    expect(parsePathPattern(content).literal).toBe(literal);
  });

  test('is in every path that the pattern matches', () => {
    const piece = fc.constantFrom(...NAMES, '*', '**', '*.pem', 's*s', '?', '[ab]');
    const pattern = fc
      .tuple(fc.constantFrom('', './', '/', '~/', '//'), fc.array(piece, { minLength: 1 }))
      .map(([start, pieces]) => parsePathPattern(`${start}${pieces.join('/')}`));
    const file = fc
      .tuple(
        fc.constantFrom('/work/app', '/home/user', ''),
        fc.array(fc.constantFrom(...NAMES, '.ENV', 'Secrets', 'b'), { minLength: 1 }),
      )
      .map(([start, names]) => `${start}/${names.join('/')}`);
    let matches = 0;
    fc.assert(
      fc.property(pattern, file, (each, path) => {
        if (!canMatchWrittenPath(each, path, CONTEXT)) return;
        matches += 1;
        expect(path.toLowerCase()).toContain(each.literal);
      }),
      { numRuns: 3000 },
    );
    expect(matches).toBeGreaterThan(50);
  });
});
