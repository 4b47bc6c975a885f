import { getErrorMessage } from '../../base/errors.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { Agent } from '../agent.ts';
import { collectValues } from '../conversation/hook-messages.ts';
import type { Instruction } from '../instructions/instructions.ts';

/** Fires an event beside the run; `onVerdict` hears what came of it. */
export function fireAside(
  agent: Agent,
  event: FiredEvent,
  onVerdict: (verdict: Verdict) => void | Promise<void> = () => undefined,
): void {
  const { signal, add } = agent.world.asides;
  const fired = agent.fire(event, signal).then(onVerdict);
  add(
    fired.catch((error: unknown) => {
      if (signal.aborted) return;
      agent.tell({ type: 'notice', level: 'error', text: getErrorMessage(error) });
    }),
  );
}

/** Tells hooks which instructions the agent was given; the only place where InstructionsLoaded is fired. */
export function announceInstructions(agent: Agent, loaded: readonly Instruction[]): void {
  for (const { text: _text, ...facts } of loaded) {
    fireAside(agent, { name: 'InstructionsLoaded', ...facts });
  }
}

/** Watches the files that hooks want to hear of. */
export async function watchPaths({ world }: Agent, verdict: Verdict): Promise<void> {
  const paths = collectValues(verdict, 'watchPaths').filter((each) => typeof each === 'string');
  if (paths.length > 0) await world.watch(paths);
}
