import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { Agent } from '../agent.ts';
import { formatContexts } from '../conversation/hook-messages.ts';

/**
 * Tells hooks that a session opens, or begins anew after a compaction; the only place where
 * SessionStart is fired.
 */
export async function announceStart(
  agent: Agent,
  facts: Omit<FiredEvent<'SessionStart'>, 'name'>,
  signal: AbortSignal | undefined,
): Promise<Verdict> {
  const verdict = await agent.fire({ name: 'SessionStart', ...facts }, signal);
  const at = { event: 'SessionStart', subject: facts.source };
  agent.waiting.push(...formatContexts(verdict, at));
  return verdict;
}
