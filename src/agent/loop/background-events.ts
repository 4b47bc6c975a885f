import { messageOf } from '../../base/errors.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { Agent } from '../agent.ts';
import { joinedValues } from '../conversation/verdict-texts.ts';
import type { Instruction } from '../knowledge/instructions.ts';

/** Fires an event beside the run; `onVerdict` hears what came of it. */
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
      agent.emit({ type: 'notice', level: 'error', text: messageOf(error) });
    }),
  );
}

/** Tells hooks which instructions the agent was given; the only place where InstructionsLoaded is fired. */
export function announceInstructions(agent: Agent, loaded: readonly Instruction[]): void {
  for (const { text: _text, ...facts } of loaded) {
    fireInBackground(agent, { name: 'InstructionsLoaded', ...facts });
  }
}

/** Watches the files that hooks want to hear of. */
export async function watchPaths({ session: world }: Agent, verdict: Verdict): Promise<void> {
  const paths = joinedValues(verdict, 'watchPaths').filter((each) => typeof each === 'string');
  if (paths.length > 0) await world.watch(paths);
}

interface UserNotification {
  /** In Claude's words: `permission_prompt`, `agent_completed` … */
  readonly type: string;
  readonly message: string;
  /** Whether the agent waits for the person. */
  readonly waiting: boolean;
}

/**
 * Calls the person to the agent; the only place where Notification is fired. Not awaited: they must
 * not wait for the hooks that tell them that they are waited for.
 */
export function notify(agent: Agent, news: UserNotification): void {
  agent.emit({ type: 'notification', text: news.message });
  fireInBackground(agent, { name: 'Notification', ...news });
}
