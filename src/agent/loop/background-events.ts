import { getErrorMessage } from '../../base/errors.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { EventFacts, FiredEvent } from '../../hooks/facts.ts';
import type { Agent } from '../agent.ts';
import { collectValues } from '../conversation/hook-messages.ts';
import type { Instruction } from '../instructions/instructions.ts';

/** Fires an event without waiting for it; `onVerdict` receives the verdict. */
export function fireInBackground(
  agent: Agent,
  event: FiredEvent,
  onVerdict: (verdict: Verdict) => void | Promise<void> = () => undefined,
): void {
  const { signal, add } = agent.session.backgroundEvents;
  const fired = agent.fire(event, signal).then(onVerdict);
  add(
    fired.catch((error: unknown) => {
      if (signal.aborted) return;
      agent.emit({ type: 'notice', level: 'error', text: getErrorMessage(error) });
    }),
  );
}

/** Fires InstructionsLoaded for each instruction; the only place that does. */
export function announceInstructions(agent: Agent, loaded: readonly Instruction[]): void {
  for (const { text: _text, ...facts } of loaded) {
    fireInBackground(agent, { name: 'InstructionsLoaded', ...facts });
  }
}

/** Watches the files that hooks name in their answer. */
export async function watchPaths({ session }: Agent, verdict: Verdict): Promise<void> {
  const paths = collectValues(verdict, 'watchPaths').filter((each) => typeof each === 'string');
  if (paths.length > 0) await session.watch(paths);
}

/**
 * Notifies the user; the only place where Notification is fired. Not awaited, because the user must
 * not wait for the hooks that do the notifying.
 */
export function notify(agent: Agent, notification: EventFacts['Notification']): void {
  agent.emit({ type: 'notification', text: notification.message });
  fireInBackground(agent, { name: 'Notification', ...notification });
}
