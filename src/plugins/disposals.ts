import { getErrorMessage } from '../base/errors.ts';
import { startTimeLimit } from '../base/time-limit.ts';
import { waitOrAbort } from '../base/abort.ts';
import type { OnIssue } from './issue.ts';

/** What a plugin wants done at the end. */
export interface Disposal {
  readonly plugin: string;
  readonly dispose: () => unknown;
}

export interface DisposalMeans {
  /** How long all of it may take. */
  readonly disposeTimeoutMs: number;
  readonly onIssue: OnIssue;
}

/** All of it is begun, the last first; what takes too long is not waited for. */
export async function disposeAll(
  disposals: Disposal[],
  { onIssue, disposeTimeoutMs }: DisposalMeans,
): Promise<void> {
  const limit = startTimeLimit(new AbortController().signal, disposeTimeoutMs);
  for (const { plugin, dispose } of disposals.splice(0).toReversed()) {
    try {
      const work = async (): Promise<unknown> => dispose();
      await waitOrAbort(work(), limit.signal);
    } catch (error) {
      const why = limit.hasExpired()
        ? `it took longer than ${disposeTimeoutMs} ms`
        : getErrorMessage(error);
      const message = `what it wanted done at the end failed: ${why}`;
      onIssue({ plugin, phase: 'setup', level: 'warning', message });
    }
  }
  limit.clear();
}
