import {
  type Attributed,
  type ChangeField,
  type Decision,
  type Effect,
  createEmptyVerdict,
  isRefusal,
  NO_DECISION,
  type Outcome,
  type Skipped,
  type Stop,
  pickStrictest,
  type Verdict,
} from './decision.ts';
import type { MergeRule } from './events.ts';

/** The rules of the merge: the event's row, and the input after all rewrites. */
export interface MergeRules {
  readonly event: string;
  readonly stop: 'obeyed' | 'ignored' | 'over-refusal';
  readonly changes: Readonly<Partial<Record<ChangeField, MergeRule>>>;
  /** The tool's input after every rewrite, in declared order; null when it was not rewritten. */
  readonly rewrittenInput: unknown;
}

/** The only merge. Pure; its result depends on declared order, never on which handler finished first. */
export function mergeOutcomes(
  rules: MergeRules,
  outcomes: readonly Outcome[],
  skipped: readonly Skipped[],
): Verdict {
  const answers = outcomes.filter(hasAnswer);
  if (answers.length === 0 && rules.rewrittenInput === null) {
    return mergePasses(rules.event, outcomes, skipped);
  }
  const effect = answers.map(getEffect).reduce(pickStrictest, 'pass');
  const stop = rules.stop === 'ignored' ? null : mergeStops(answers);
  const settled = applyStop(rules, effect, stop);
  const first = answers.filter((outcome) => outcome.pass === 1);
  const changes = mergeChanges(rules, first);
  return {
    event: rules.event,
    effect: settled,
    stop,
    reasons: attributeTexts(answers, answers.map(getReason)),
    input: isRefusal(settled) ? null : rules.rewrittenInput,
    output: changes['output'] ?? null,
    changes: omitOutput(changes),
    context: attributeTexts(
      first,
      first.map(({ decision }) => decision?.context),
    ),
    messages: attributeTexts(
      first,
      first.map(({ decision }) => decision?.notice),
    ),
    outcomes,
    skipped,
    slowest: findSlowest(outcomes),
  };
}

/** The fast path: no handler has an answer. */
function mergePasses(
  event: string,
  outcomes: readonly Outcome[],
  skipped: readonly Skipped[],
): Verdict {
  return createEmptyVerdict(event, { outcomes, skipped, slowest: findSlowest(outcomes) });
}

/** Whether an outcome is more than a plain pass. */
function hasAnswer({ failure, decision }: Outcome): boolean {
  if (failure !== null) return true;
  if (decision === NO_DECISION) return false;
  for (const _field in decision) return true;
  return false;
}

function getEffect(outcome: Outcome): Effect {
  if (outcome.failure !== null) return outcome.onFailure === 'closed' ? 'deny' : 'pass';
  const effect = outcome.decision?.effect ?? 'pass';
  // A second pass may only tighten: another hook already allowed or deferred on the first.
  if (outcome.pass === 2 && effect !== 'deny' && effect !== 'ask') return 'pass';
  return effect;
}

function mergeStops(outcomes: readonly Outcome[]): Stop | null {
  const stops = outcomes.flatMap((outcome) => {
    const stop = outcome.decision?.stop;
    if (stop === undefined) return [];
    return stop.reason === '' ? { ...stop, reason: formatMissingReason(outcome) } : stop;
  });
  return stops.find((stop) => stop.pending === 'skip') ?? stops[0] ?? null;
}

function applyStop(rules: MergeRules, effect: Effect, stop: Stop | null): Effect | 'stop' {
  if (stop === null) return effect;
  if (rules.stop === 'over-refusal') return 'pass';
  return stop.pending === 'skip' ? 'stop' : effect;
}

/** A refusal always has a reason, so that no text about it is empty. */
function getReason(outcome: Outcome): string | undefined {
  const reason = readReason(outcome);
  const isRefused = getEffect(outcome) === 'deny' || outcome.decision?.stop !== undefined;
  return isRefused && (reason === undefined || reason === '')
    ? formatMissingReason(outcome)
    : reason;
}

function formatMissingReason({ hook }: Outcome): string {
  return `Blocked by ${hook}, which gave no reason`;
}

function readReason(outcome: Outcome): string | undefined {
  if (outcome.failure !== null) {
    return outcome.onFailure === 'closed' ? outcome.failure.message : undefined;
  }
  const { reason, stop } = outcome.decision ?? {};
  // An effect of the second pass that does not count has no reason either.
  const isUncounted = outcome.pass === 2 && getEffect(outcome) === 'pass';
  return isUncounted ? stop?.reason : (reason ?? stop?.reason);
}

/** Names the hook of each text; one that a hook repeats in its second vocabulary counts once. */
function attributeTexts(
  outcomes: readonly Outcome[],
  texts: readonly (string | undefined)[],
): Attributed[] {
  return outcomes.flatMap((outcome, index) => {
    const text = texts[index];
    if (text === undefined || text === '') return [];
    const isRepeat = (other: Outcome, place: number): boolean =>
      place < index && texts[place] === text && isOtherAsking(other, outcome);
    const isRepeated = outcome.vocabulary !== undefined && outcomes.some(isRepeat);
    return isRepeated ? [] : [{ hook: outcome.hook, text }];
  });
}

function isOtherAsking(one: Outcome, other: Outcome): boolean {
  return one.hook === other.hook && one.vocabulary !== other.vocabulary;
}

function mergeChanges(rules: MergeRules, outcomes: readonly Outcome[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  if (outcomes.length === 0) return merged;
  for (const [field, rule] of Object.entries(rules.changes)) {
    if (field === 'input' || field === 'context') continue;
    const values = outcomes.flatMap((outcome) => listValues(outcome, field));
    if (values.length > 0) merged[field] = mergeValues(rule, values);
  }
  return merged;
}

function listValues(outcome: Outcome, field: string): { hook: string; value: unknown }[] {
  const decision: Decision & Readonly<Record<string, unknown>> = { ...outcome.decision };
  const value = decision[field];
  return value === undefined ? [] : [{ hook: outcome.hook, value }];
}

function mergeValues(
  rule: MergeRule,
  values: readonly { hook: string; value: unknown }[],
): unknown {
  if (rule === 'join') return values;
  return rule === 'first' ? values[0]?.value : values.at(-1)?.value;
}

function omitOutput(changes: Record<string, unknown>): Record<string, unknown> {
  const { output: _output, ...rest } = changes;
  return rest;
}

function findSlowest(outcomes: readonly Outcome[]): Verdict['slowest'] {
  let slowest: Verdict['slowest'] = null;
  for (const { hook, durationMs, status } of outcomes) {
    if (status === 'background') continue;
    if (slowest === null || durationMs > slowest.durationMs) slowest = { hook, durationMs };
  }
  return slowest;
}
