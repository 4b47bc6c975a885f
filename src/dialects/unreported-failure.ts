import type { Outcome } from '../hooks/decision.ts';

/**
 * What went wrong with a hook and nobody has told yet: that a plugin's hook threw or took too long is
 * told as the plugin's, by whoever asked it; that its answer could not be used is not.
 */
export function findUnreportedFailure({ dialect, failure }: Outcome): Outcome['failure'] {
  return dialect === 'plugin' && failure?.kind !== 'output' ? null : failure;
}
