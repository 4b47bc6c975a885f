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
  agent.session.backgroundEvents.add(fireSafely(agent, event, onVerdict));
}

/** Never rejects: a problem becomes a notice, unless the session ends. */
async function fireSafely(
  agent: Agent,
  event: FiredEvent,
  onVerdict: (verdict: Verdict) => void | Promise<void> = () => undefined,
): Promise<void> {
  const { signal } = agent.session.backgroundEvents;
  try {
    await onVerdict(await agent.fire(event, signal));
  } catch (error) {
    if (signal.aborted) return;
    agent.emit({ type: 'notice', level: 'error', text: getErrorMessage(error) });
  }
}

/**
 * Fires InstructionsLoaded for each instruction, one after the other; the only place that does. The
 * next prompt and model request wait for them.
 */
export function announceInstructions(agent: Agent, loaded: readonly Instruction[]): void {
  if (loaded.length === 0) return;
  agent.session.backgroundEvents.addInOrder(async () => {
    for (const { text: _text, ...facts } of loaded) {
      await fireSafely(agent, { name: 'InstructionsLoaded', ...facts });
    }
  });
}

/** Watches the files that hooks name in their answer. */
export async function watchPaths({ session }: Agent, verdict: Verdict): Promise<void> {
  const paths = collectValues(verdict, 'watchPaths').filter((each) => typeof each === 'string');
  if (paths.length > 0) await session.watch(paths);
}

/** Notifies the user, and hooks. */
export function notify(agent: Agent, notification: EventFacts['Notification']): void {
  agent.emit({ type: 'notification', text: notification.message });
  fireNotification(agent, notification);
}

/** The only place where Notification is fired. Not awaited, because nobody must wait for hooks that notify. */
export function fireNotification(agent: Agent, notification: EventFacts['Notification']): void {
  fireInBackground(agent, { name: 'Notification', ...notification });
}
