import type { Verdict } from '../../hooks/decision.ts';
import { isRefusal } from '../../hooks/decision.ts';
import type { EventFacts } from '../../hooks/facts.ts';
import { waitOrAbort } from '../../base/abort.ts';
import type { Agent } from '../agent.ts';
import { formatHookMessage, formatContexts, joinReasons } from '../conversation/hook-messages.ts';
import type { Model } from '../models/model.ts';

export interface ModelSwitch {
  /** The model itself, or its name: of the session's provider, or `provider/model`. */
  readonly model: Model | string;
  /** As requested, for hooks; without it the name, if `model` is one. */
  readonly requested?: string | null;
  readonly source: 'command' | 'picker' | 'sdk';
  /** Ends the hooks that are asked; the model stays. */
  readonly signal?: AbortSignal;
}

/**
 * Switches the model unless hooks refuse it, and returns why not; the only place where
 * PreModelSwitch and PostModelSwitch are fired.
 */
export async function switchModel(
  agent: Agent,
  model: Model,
  { requested = null, source, signal = NEVER }: Omit<ModelSwitch, 'model'>,
): Promise<string | null> {
  const facts = describeSwitch(agent, model, { requested, source });
  if (facts.fromModel === facts.toModel && agent.model.provider === model.provider) return null;
  const verdict = await agent.fire({ name: 'PreModelSwitch', ...facts }, signal);
  const refusal = await findRefusal(agent, verdict, facts.toModel, signal);
  if (refusal !== null) return formatHookMessage({ kind: 'refused-model', reason: refusal });
  signal.throwIfAborted();
  agent.model = model;
  const after = await agent.fire({ name: 'PostModelSwitch', ...facts }, signal);
  const at = { event: 'PostModelSwitch', subject: facts.toModel };
  agent.pendingContext.push(...formatContexts(after, at));
  return null;
}

const NEVER = new AbortController().signal;

async function findRefusal(
  agent: Agent,
  verdict: Verdict,
  model: string,
  signal: AbortSignal,
): Promise<string | null> {
  if (isRefusal(verdict.effect)) return joinReasons(verdict);
  if (verdict.effect !== 'ask') return null;
  const why = joinReasons(verdict) || 'a hook wants you to confirm it';
  return (await isConfirmed(agent, model, why, signal)) ? null : why;
}

/** Not confirmed without a user. */
async function isConfirmed(
  { session }: Agent,
  model: string,
  why: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (session.person === null) return false;
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
  const answers = await waitOrAbort(session.person.answer([confirm], signal, null), signal);
  return answers?.[question] === 'Yes';
}

const CACHE_LIFETIME_MS = 5 * 60_000;

function describeSwitch(
  agent: Agent,
  model: Model,
  { requested, source }: Required<Pick<ModelSwitch, 'requested' | 'source'>>,
) {
  const { contextTokens, answeredAt, session } = agent;
  const { prices } = model;
  const isCacheWarm = answeredAt !== null && session.clock.now() - answeredAt < CACHE_LIFETIME_MS;
  const facts: EventFacts['PreModelSwitch'] = {
    fromModel: agent.model.id,
    toModel: model.id,
    requestedModel: requested,
    source,
    contextTokens,
    isCacheWarm,
    cacheLifetime: '5m',
    cacheWriteUsd: toDollars((prices?.cacheWrite ?? 0) * contextTokens),
    pricing: prices === null ? 'default' : 'catalog',
  };
  return facts;
}

/** From dollars per million tokens; an estimate, rounded to four digits. */
function toDollars(millionths: number): number {
  return Math.round(millionths / 100) / 10_000;
}
