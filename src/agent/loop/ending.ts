import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import { shouldContinue } from '../../hooks/stop-guard.ts';
import { createUserMessage } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { formatHookMessage, formatContexts } from '../conversation/hook-messages.ts';

/**
 * Asks hooks whether the agent may end, or goes on for a further turn, with the reason of a hook that
 * stopped the run; the only place where Stop, SubagentStop and TaskComplete are fired.
 */
export async function checkEnd(
  agent: Agent,
  text: string,
  signal: AbortSignal,
): Promise<{ readonly goesOn: boolean; readonly reason: string | null }> {
  const stopping = createStopEvent(agent, text);
  const stopped = await agent.fire(stopping, signal);
  const isLetGo = stopped.stop === null && !shouldContinue(stopped);
  const completing = { name: 'TaskComplete', result: text } as const;
  if (isLetGo && agent.facts.parentId === null) {
    const completed = await agent.fire(completing, signal);
    const ruling = applyVerdict(agent, completing, completed);
    const at = { event: completing.name, subject: null };
    if (!ruling.goesOn) agent.pendingContext.push(...formatContexts(completed, at));
    return ruling;
  }
  const ruling = applyVerdict(agent, stopping, stopped);
  const isOverruled = !ruling.goesOn && ruling.reason === null && !isLetGo;
  // TaskComplete is fired all the same, but its hooks cannot hold an agent that the cap lets end.
  if (isOverruled && agent.facts.parentId === null) await agent.fire(completing, signal);
  return ruling;
}

type EndEvent = FiredEvent<'Stop' | 'SubagentStop' | 'TaskComplete'>;

function createStopEvent(agent: Agent, lastText: string): EndEvent {
  const facts = {
    lastText,
    again: agent.isHeldByHook,
    backgroundTasks: agent.toolContext.shells.list().map(({ id, command, status }) => ({
      id,
      type: 'shell',
      status,
      description: command,
      command,
    })),
    scheduledPrompts: [],
  };
  const { type, parentId } = agent.facts;
  if (parentId === null) return { name: 'Stop', ...facts };
  return {
    name: 'SubagentStop',
    ...facts,
    agentType: type ?? 'general-purpose',
    ...(agent.transcriptPath === null ? {} : { agentTranscriptPath: agent.transcriptPath }),
  };
}

/** One count for both events, because TaskComplete could hold for ever what Stop lets end. */
function applyVerdict(agent: Agent, event: EndEvent, verdict: Verdict) {
  const { goesOn, overridden } = agent.stopGuard.judge(verdict);
  agent.isHeldByHook = goesOn;
  if (overridden !== null) agent.emit({ type: 'notice', level: 'warning', text: overridden });
  if (goesOn) {
    agent.conversation.add(createUserMessage(formatFeedback(verdict, event)), { isMeta: true });
  }
  return { goesOn, reason: verdict.stop?.reason ?? null };
}

function formatFeedback(verdict: Verdict, { name }: EndEvent): string {
  const reasons = verdict.reasons.map(({ text }) =>
    formatHookMessage({ kind: 'feedback', event: name, reason: text }),
  );
  return [...reasons, ...formatContexts(verdict, { event: name, subject: null })].join('\n\n');
}

/** The abort reason as a sentence. */
export function formatAbortReason({ reason }: AbortSignal): string {
  return typeof reason === 'string' ? reason : 'the run was aborted';
}
