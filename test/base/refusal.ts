import { expect } from 'vitest';
import { type HooklineError, isHooklineError } from '../../src/base/errors.ts';

type Refusal = Pick<HooklineError, 'code' | 'message' | 'hint'>;

/** The error of ours that this work ends with; anything else fails the test. */
export function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  return work.then(
    () => expect.unreachable('it should have been refused'),
    (error: unknown) => {
      if (!isHooklineError(error)) throw error;
      return { code: error.code, message: error.message, hint: error.hint };
    },
  );
}
