import { expect, test } from 'vitest';
import { isAwaitingTrust, type Skipped } from '../../src/hooks/decision.ts';

test.each([
  ['withheld', 'untrusted: it was never trusted here', true],
  ['withheld', 'modified: run.sh changed since it was trusted', true],
  ['withheld', 'no second look at the rewritten input: modified: 1 file', true],
  ['withheld', 'disabled', false],
  ['misfit', 'untrusted: says a matcher of that name', false],
  ['order', 'after untrusted: refused', false],
] satisfies [Skipped['kind'], string, boolean][])(
  'a %s hook (%s) awaits trust: %s',
  (kind, why, expected) => {
    expect(isAwaitingTrust({ hook: 'a', kind, why })).toBe(expected);
  },
);
