import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { Agent } from '../agent.ts';
import { formatContexts } from '../conversation/hook-messages.ts';

/**
 * Fires SessionStart when a session opens, or continues after a compaction; the only place where
 * it is fired.
 */
export async function fireSessionStart(
  agent: Agent,
  facts: Omit<FiredEvent<'SessionStart'>, 'name'>,
  signal: AbortSignal | undefined,
): Promise<Verdict> {
  const verdict = await agent.fire({ name: 'SessionStart', ...facts }, signal);
  const at = { event: 'SessionStart', subject: facts.source };
  agent.pendingContext.push(...formatContexts(verdict, at));
  return verdict;
}
