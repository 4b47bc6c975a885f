import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { isWildcardMatch } from '../../../src/permissions/rules/command-pattern.ts';
import { expandBraces, splitWildcards } from '../../../src/permissions/rules/glob-words.ts';

/** What bash itself makes of a word without quotes. */
function expandInBash(word: string): readonly string[] {
  const printed = execFileSync('bash', ['-c', `printf '%s\\n' ${word}`], { encoding: 'utf8' });
  return printed.trimEnd().split('\n');
}

test.each([
  'a',
  '.e{nv,x}',
  '{a,b}{c,d}',
  '{a,{b,{c,{d,{e,{f,.env}}}}}}',
  '{{{{{{{.env,a},b},c},d},e},f},g}',
  '.en{v..v}',
  '{a..e}',
  'x{1..3}y',
  '{3..1}',
  'a{b}c',
  '{x{a,b}}',
  'a{,b}',
  '{a,b',
  'a,b}',
])('%s is expanded to all that bash makes of it', (word) => {
  expect(expandBraces(word, 200)).toEqual(expect.arrayContaining([...expandInBash(word)]));
});

test('a word that stands for too many others is not expanded', () => {
  expect(expandBraces('{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}', 200)).toBeNull();
  expect(expandBraces('x{1..500}', 200)).toBeNull();
});

test.each([
  ['.e*', true],
  ['.en?', true],
  ['.[[:alpha:]]nv', true],
  ['.[]e]nv', true],
  ['.[!x]nv', true],
  ['.[^x]nv', true],
  ['.@(e|f)nv', true],
  ['.+(e)nv', true],
  ['.!(x)', true],
  ['?(.)env', true],
  ['.e[nv', false],
  ['.environment', false],
  ['x*', false],
])('the pattern %s can match .env: %j', (pattern, canMatch) => {
  expect(isWildcardMatch(splitWildcards(pattern), '.env')).toBe(canMatch);
});
