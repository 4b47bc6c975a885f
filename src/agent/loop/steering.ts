import { isRefusal } from '../../hooks/decision.ts';
import type { Agent } from '../agent.ts';
import { createUserMessage } from '../../sessions/messages.ts';
import { formatContexts, formatHookMessage, joinReasons } from '../conversation/hook-messages.ts';

/**
 * Adds to the conversation what came up since the last request: texts of hooks, steering messages.
 * Returns why a hook ends the run because of a steering message, or null.
 */
export async function deliverPending(agent: Agent, signal: AbortSignal): Promise<string | null> {
  await agent.session.backgroundEvents.waitForOrdered(signal);
  for (let next = agent.steering.shift(); next !== undefined; next = agent.steering.shift()) {
    const accepted = await submitPrompt(agent, next.text, signal);
    if (accepted.kind === 'refused') {
      agent.emit({ type: 'notice', level: 'warning', text: accepted.reason });
      continue;
    }
    if (accepted.kind === 'stopped') {
      addStoppedPrompt(agent, accepted);
      return accepted.reason;
    }
    addPrompt(agent, accepted.prompt);
  }
  addContext(agent);
  return null;
}

export type SubmittedPrompt =
  | { readonly kind: 'accepted'; readonly prompt: string; readonly title: string | null }
  | { readonly kind: 'refused'; readonly reason: string; readonly isShown: boolean }
  | { readonly kind: 'stopped'; readonly reason: string; readonly prompt: string };

/** Asks hooks about a prompt; the only place where UserPromptSubmit is fired. */
export async function submitPrompt(
  agent: Agent,
  prompt: string,
  signal: AbortSignal,
): Promise<SubmittedPrompt> {
  await agent.session.backgroundEvents.waitForOrdered(signal);
  const verdict = await agent.fire({ name: 'UserPromptSubmit', prompt }, signal);
  const { changes, stop } = verdict;
  const submitted = typeof changes['prompt'] === 'string' ? changes['prompt'] : prompt;
  if (
    verdict.outcomes.some(({ effect }) => effect === 'deny') ||
    (isRefusal(verdict.effect) && stop === null)
  ) {
    const isShown = changes['suppressPrompt'] !== true;
    return { kind: 'refused', reason: joinReasons(verdict), isShown };
  }
  if (stop !== null) return { kind: 'stopped', reason: stop.reason, prompt: submitted };
  agent.pendingContext.push(
    ...formatContexts(verdict, { event: 'UserPromptSubmit', subject: null }),
  );
  const title = typeof changes['title'] === 'string' ? changes['title'] : null;
  return { kind: 'accepted', prompt: submitted, title };
}

/** Texts of hooks about a prompt stand before it. */
export function addPrompt(agent: Agent, prompt: string): void {
  addContext(agent);
  const images = agent.images.splice(0);
  agent.conversation.add({ role: 'user', content: [{ type: 'text', text: prompt }, ...images] });
}

/** The prompt stays, and the model reads with the next one that a hook ended the turn. */
export function addStoppedPrompt(
  agent: Agent,
  { prompt, reason }: Extract<SubmittedPrompt, { kind: 'stopped' }>,
): void {
  addPrompt(agent, prompt);
  agent.conversation.add(createUserMessage(formatStoppedPrompt(reason)), { isMeta: true });
}

export function formatStoppedPrompt(reason: string): string {
  return formatHookMessage({ kind: 'stopped-prompt', reason });
}

function addContext(agent: Agent): void {
  const texts = [...agent.fileNotes.splice(0), ...agent.pendingContext.splice(0)];
  if (texts.length === 0) return;
  const content = texts.map((text) => ({ type: 'text', text }) as const);
  agent.conversation.add({ role: 'user', content }, { isMeta: true });
}

/** The notice about a prompt that arrived too late for the run. */
export function formatUndelivered(prompt: string): string {
  return `the run ended before the agent could be told: ${prompt}`;
}
