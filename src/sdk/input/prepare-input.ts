import { memoize } from '../../base/memoize.ts';
import { checkStartInput } from './check-input.ts';
import type { ClineCoreOptions, ClineCoreStartInput } from '../start-input.ts';

export interface PreparedInput {
  readonly input: ClineCoreStartInput;
  /** Called when the session has ended, or never began. */
  dispose(): Promise<void>;
}

/** Checks what a session is started with, and lets the program's own `prepare` change it. */
export async function prepareInput(
  core: ClineCoreOptions,
  given: ClineCoreStartInput,
): Promise<PreparedInput> {
  checkStartInput(given);
  const prepared = await core.prepare?.(given);
  const dispose = memoize(async () => {
    await prepared?.dispose?.();
  });
  try {
    const input = (await prepared?.applyToStartSessionInput?.(given)) ?? given;
    checkStartInput(input);
    return { input, dispose };
  } catch (error) {
    await dispose().catch(() => undefined);
    throw error;
  }
}
