import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import { wantsMore } from '../../hooks/stop-guard.ts';
import { createUserMessage } from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { formatHookMessage, formatContexts } from '../conversation/hook-messages.ts';

export interface EndRuling {
  /** Whether hooks want a further turn. */
  readonly goesOn: boolean;
  /** What a hook said when it ended the run over the others. */
  readonly reason: string | null;
}

/** Asks hooks whether the agent may end; the only place where Stop, SubagentStop and TaskComplete are fired. */
export async function mayEnd(agent: Agent, text: string, signal: AbortSignal): Promise<EndRuling> {
  const stopping = stopEvent(agent, text);
  const stopped = await agent.fire(stopping, signal);
  const isLetGo = stopped.stop === null && !wantsMore(stopped);
  const completing = { name: 'TaskComplete', result: text } as const;
  if (isLetGo && agent.facts.parentId === null) {
    const completed = await agent.fire(completing, signal);
    const ruling = judge(agent, completing, completed);
    const at = { event: completing.name, subject: null };
    if (!ruling.goesOn) agent.waiting.push(...formatContexts(completed, at));
    return ruling;
  }
  const ruling = judge(agent, stopping, stopped);
  const isOverruled = !ruling.goesOn && ruling.reason === null && !isLetGo;
  // Those who are overruled here must not have their way there.
  if (isOverruled && agent.facts.parentId === null) await agent.fire(completing, signal);
  return ruling;
}

type EndEvent = FiredEvent<'Stop' | 'SubagentStop' | 'TaskComplete'>;

function stopEvent(agent: Agent, lastText: string): EndEvent {
  const facts = {
    lastText,
    again: agent.isKeptFromEnding,
    backgroundTasks: agent.bench.shells.list().map(({ id, command, status }) => ({
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

/** One count for both events: what Stop let go may be refused by TaskComplete for ever. */
function judge(agent: Agent, event: EndEvent, verdict: Verdict): EndRuling {
  const { goesOn, overridden } = agent.stopGuard.judge(verdict);
  agent.isKeptFromEnding = goesOn;
  if (overridden !== null) agent.tell({ type: 'notice', level: 'warning', text: overridden });
  if (goesOn) agent.conversation.add(createUserMessage(feedback(verdict, event)), { isMeta: true });
  return { goesOn, reason: verdict.stop?.reason ?? null };
}

function feedback(verdict: Verdict, { name }: EndEvent): string {
  const reasons = verdict.reasons.map(({ text }) =>
    formatHookMessage({ kind: 'feedback', event: name, reason: text }),
  );
  return [...reasons, ...formatContexts(verdict, { event: name, subject: null })].join('\n\n');
}

/** Why a signal aborted, as a sentence. */
export function abortedBecause({ reason }: AbortSignal): string {
  return typeof reason === 'string' ? reason : 'the run was aborted';
}
