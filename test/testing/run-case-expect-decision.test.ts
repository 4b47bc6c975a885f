import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import { expectDecision } from '../../src/testing/run-case.ts';
import { fireHook } from '../../src/testing/fire-hook.ts';
import { createDirectory, createHookScript, write } from './case-fixture.ts';

async function fired() {
  const answer = { cancel: true, errorMessage: 'no', contextModification: 'use ts' };
  return fireHook({ hook: write(createDirectory(), 'PreToolUse', createHookScript(answer)) });
}

describe('expectDecision', () => {
  it('does nothing when all is as expected', async () => {
    const verdict = await fired();
    const expectedDecision = {
      effect: 'deny',
      reasons: ['no'],
      context: [{ includes: 'ts' }],
    } as const;
    expect(() => expectDecision(verdict, expectedDecision)).not.toThrow();
  });

  it('throws what every test runner prints: an AssertionError with all differences', async () => {
    const verdict = await fired();
    const attempt = (): void => expectDecision(verdict, { effect: 'pass', reasons: ['yes'] });
    expect(attempt).toThrow(AssertionError);
    expect(attempt).toThrow(
      'PreToolUse did not match the expectation:\n' +
        '  effect: expected "pass", found "deny"\n' +
        '  reasons[0].text: expected "yes", found "no"',
    );
  });

  it('refuses an expectation that is misspelt', async () => {
    const verdict = await fired();
    expect(() => expectDecision(verdict, { efect: 'deny' })).toThrow(
      expect.objectContaining({ code: 'CASE_INVALID', hint: 'Did you mean "effect"?' }),
    );
  });
});
