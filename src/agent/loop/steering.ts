import { isRefusal } from '../../hooks/decision.ts';
import type { Agent } from '../agent.ts';
import { formatContexts, joinReasons } from '../conversation/hook-messages.ts';

/**
 * Puts into the conversation what came up since the last request: contexts of hooks, a person's words.
 * A string says why a hook ends the run because of them.
 */
export async function deliverWaiting(agent: Agent, signal: AbortSignal): Promise<string | null> {
  for (let text = agent.steering.shift(); text !== undefined; text = agent.steering.shift()) {
    const accepted = await acceptPrompt(agent, text, signal);
    if (accepted.kind === 'refused') {
      agent.tell({ type: 'notice', level: 'warning', text: accepted.reason });
      continue;
    }
    addPrompt(agent, accepted.prompt);
    if (accepted.kind === 'stopped') return accepted.reason;
  }
  addContext(agent);
  return null;
}

export type AcceptedPrompt =
  | { readonly kind: 'accepted'; readonly prompt: string; readonly title: string | null }
  | { readonly kind: 'refused'; readonly reason: string; readonly isShown: boolean }
  | { readonly kind: 'stopped'; readonly reason: string; readonly prompt: string };

/** Asks hooks about a person's words; the only place where UserPromptSubmit is fired. */
export async function acceptPrompt(
  agent: Agent,
  prompt: string,
  signal: AbortSignal,
): Promise<AcceptedPrompt> {
  const verdict = await agent.fire({ name: 'UserPromptSubmit', prompt }, signal);
  const { changes, stop } = verdict;
  const said = typeof changes['prompt'] === 'string' ? changes['prompt'] : prompt;
  if (
    verdict.outcomes.some(({ effect }) => effect === 'deny') ||
    (isRefusal(verdict.effect) && stop === null)
  ) {
    const isShown = changes['suppressPrompt'] !== true;
    return { kind: 'refused', reason: joinReasons(verdict, 'Blocked by hook'), isShown };
  }
  if (stop !== null) return { kind: 'stopped', reason: stop.reason, prompt: said };
  agent.waiting.push(...formatContexts(verdict, { event: 'UserPromptSubmit', subject: null }));
  const title = typeof changes['title'] === 'string' ? changes['title'] : null;
  return { kind: 'accepted', prompt: said, title };
}

/** What hooks said about a prompt stands before it. */
export function addPrompt(agent: Agent, prompt: string): void {
  addContext(agent);
  const images = agent.images.splice(0);
  agent.conversation.add({ role: 'user', content: [{ type: 'text', text: prompt }, ...images] });
}

function addContext(agent: Agent): void {
  const texts = agent.waiting.splice(0);
  if (texts.length === 0) return;
  const content = texts.map((text) => ({ type: 'text', text }) as const);
  agent.conversation.add({ role: 'user', content }, { isMeta: true });
}
