import { AssertionError } from 'node:assert';
import type { Verdict } from '../hooks/decision.ts';
import { parseExpectation } from './case-fields.ts';
import { findDifferences, formatDifference } from './expectation.ts';
import { toPlainVerdict } from './run-case.ts';

/** Part of a verdict as `expect` of a case.json writes it: `{ effect: 'deny', reasons: ['no'] }`. */
export type ExpectedDecision = Readonly<Record<string, unknown>>;

/** Throws an AssertionError that lists every difference; any test runner shows it. */
export function expectDecision(verdict: Verdict, expected: ExpectedDecision): void {
  const found = toPlainVerdict(verdict);
  const differences = findDifferences(parseExpectation(expected, 'expectDecision'), found);
  if (differences.length === 0) return;
  const lines = differences.map((difference) => `  ${formatDifference(difference)}`);
  throw new AssertionError({
    message: `${verdict.event} came out otherwise than expected:\n${lines.join('\n')}`,
    actual: found,
    expected,
    operator: 'expectDecision',
    stackStartFn: expectDecision,
  });
}
