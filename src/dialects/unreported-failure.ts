import type { Outcome } from '../hooks/decision.ts';

/**
 * Finds a failure that is not reported yet. That a plugin's hook threw or timed out is already
 * reported as a problem of the plugin; an invalid answer is not.
 */
export function findUnreportedFailure({ dialect, failure }: Outcome): Outcome['failure'] {
  return dialect === 'plugin' && failure?.kind !== 'output' ? null : failure;
}
