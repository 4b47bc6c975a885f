import type { Verdict } from '../../hooks/decision.ts';
import { isRefusal } from '../../hooks/decision.ts';
import type { EventFacts } from '../../hooks/facts.ts';
import { waitOrAbort } from '../../base/abort.ts';
import type { Agent } from '../agent.ts';
import { formatHookMessage, formatContexts, joinReasons } from '../conversation/hook-messages.ts';
import type { ModelSwitch } from './session.ts';

/**
 * Goes on with another model unless hooks refuse it, which a sentence tells; the only place where
 * PreModelSwitch and PostModelSwitch are fired.
 */
export async function switchModel(agent: Agent, wanted: ModelSwitch): Promise<string | null> {
  const facts = switchFacts(agent, wanted);
  if (facts.fromModel === facts.toModel && agent.model.provider === wanted.model.provider) {
    return null;
  }
  const signal = wanted.signal ?? NEVER;
  const verdict = await agent.fire({ name: 'PreModelSwitch', ...facts }, signal);
  const refusal = await refusalOf(agent, verdict, { model: facts.toModel, signal });
  if (refusal !== null) return formatHookMessage({ kind: 'refused-model', reason: refusal });
  signal.throwIfAborted();
  agent.model = wanted.model;
  const after = await agent.fire({ name: 'PostModelSwitch', ...facts }, signal);
  const at = { event: 'PostModelSwitch', subject: facts.toModel };
  agent.waiting.push(...formatContexts(after, at));
  return null;
}

const NEVER = new AbortController().signal;

interface Asked {
  readonly model: string;
  readonly signal: AbortSignal;
}

async function refusalOf(agent: Agent, verdict: Verdict, asked: Asked): Promise<string | null> {
  if (isRefusal(verdict.effect)) return joinReasons(verdict, 'a hook keeps the model');
  if (verdict.effect !== 'ask') return null;
  const why = joinReasons(verdict, 'a hook wants you to confirm it');
  return (await isConfirmed(agent, asked, why)) ? null : why;
}

/** Nobody there means no. */
async function isConfirmed({ world }: Agent, asked: Asked, why: string): Promise<boolean> {
  const { model, signal } = asked;
  if (world.person === null) return false;
  const question = `Switch the model to ${model}? ${why}`;
  const options = [
    { label: 'Yes', description: `Go on with ${model}` },
    { label: 'No', description: 'Keep the model' },
  ];
  const confirm = {
    question,
    header: 'Model',
    options,
    multiSelect: false,
    isClosed: true,
  } as const;
  const answers = await waitOrAbort(world.person.answer([confirm], signal), signal);
  return answers?.[question] === 'Yes';
}

const CACHE_LIFETIME_MS = 5 * 60_000;

function switchFacts(agent: Agent, { model, requested, source }: ModelSwitch) {
  const { contextTokens, answeredAt, world } = agent;
  const { prices } = model;
  const isCacheWarm = answeredAt !== null && world.clock.now() - answeredAt < CACHE_LIFETIME_MS;
  const facts: EventFacts['PreModelSwitch'] = {
    fromModel: agent.model.id,
    toModel: model.id,
    requestedModel: requested,
    source,
    contextTokens,
    isCacheWarm,
    cacheLifetime: '5m',
    cacheWriteUsd: inDollars((prices?.cacheWrite ?? 0) * contextTokens),
    pricing: prices === null ? 'default' : 'catalog',
  };
  return facts;
}

/** From dollars for a million tokens; an estimate, so four digits are enough. */
function inDollars(millionths: number): number {
  return Math.round(millionths / 100) / 10_000;
}
