import type { ChangeField, Decision, Effect, Stop } from './decision.ts';
import { EVENTS } from './events.ts';
import type { EventName } from './facts.ts';

export interface Admitted {
  readonly decision: Decision;
  /** What was ignored, in words; nothing a handler says is dropped in silence. */
  readonly notes: readonly string[];
}

const ANSWER_FIELDS = new Set(['effect', 'reason', 'stop', 'notice', 'wake', 'inputFace']);

/** Keeps of a decision what its event's row lets count. Context that comes late is for the next request. */
export function restrictDecision(name: EventName, decision: Decision, isLate = false): Admitted {
  if (isPlainPass(decision)) return { decision, notes: [] };
  const notes: string[] = [];
  const kept: { -readonly [Key in keyof Decision]: Decision[Key] } = { ...decision };
  if (!isEffectAllowed(name, decision.effect)) {
    notes.push(
      `${name} ${explainIgnoredEffect(name, decision.effect)}, so "${decision.effect}" was ignored`,
    );
    delete kept.effect;
    delete kept.reason;
  }
  if (!isStopAllowed(name, decision.stop)) {
    notes.push(`${name} cannot stop the run, so "stop" was ignored`);
    delete kept.stop;
  }
  for (const field of listForbiddenFields(name, decision)) {
    if (isLate && field === 'context') continue;
    notes.push(`${name} cannot change "${field}", so it was ignored`);
    delete kept[field];
  }
  return { decision: kept, notes };
}

function isPlainPass(decision: Decision): boolean {
  for (const field in decision) if (field !== 'notice') return false;
  return true;
}

function isEffectAllowed(name: EventName, effect: Effect | undefined): boolean {
  return effect === undefined || effect === 'pass' || EVENTS[name].effects.includes(effect);
}

function explainIgnoredEffect(name: EventName, effect: Effect | undefined): string {
  if (EVENTS[name].refusal === null) return 'cannot be refused';
  return `knows no "${effect}"`;
}

function isStopAllowed(name: EventName, stop: Stop | undefined): boolean {
  return stop === undefined || EVENTS[name].stop !== 'ignored';
}

function listForbiddenFields(name: EventName, decision: Decision): ChangeField[] {
  const listed = EVENTS[name].changes;
  return (Object.keys(decision) as (keyof Decision)[]).filter(
    (field): field is ChangeField => !ANSWER_FIELDS.has(field) && !Object.hasOwn(listed, field),
  );
}
