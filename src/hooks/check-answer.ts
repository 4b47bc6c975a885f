import { AGENT_VOCABULARIES, VOCABULARIES } from '../tool-vocabularies/tool-views.ts';
import {
  type ChangeField,
  type Decision,
  type Effect,
  EFFECTS,
  FAILURE_KINDS,
  type FailurePolicy,
  type Stop,
} from './decision.ts';
import { EVENTS } from './events.ts';
import type { EventName } from './facts.ts';
import type { Answer } from './handler.ts';

/**
 * Checks an answer: an invalid one becomes a failure, and of a decision only the fields remain that the
 * event's row allows. A note reports each ignored field, because nothing of an answer is dropped
 * silently. Late context is allowed for every event: it is added to the next request.
 */
export function checkAnswer(
  uncheckedAnswer: Answer | null,
  event: EventName,
  isLate: boolean,
): Answer {
  const problem = findAnswerProblem(uncheckedAnswer);
  if (problem !== null) {
    return { failure: { kind: 'output', message: `its answer cannot be used: ${problem}` } };
  }
  const answer = uncheckedAnswer ?? {};
  const { decision = {} } = answer;
  if (answer.failure !== undefined) return answer;
  if (isPlainPass(decision)) return { ...answer, decision };
  const notes = [...(answer.notes ?? [])];
  const allowedDecision: { -readonly [Key in keyof Decision]: Decision[Key] } = { ...decision };
  if (!isEffectAllowed(event, decision.effect)) {
    notes.push(
      `${event} ${explainIgnoredEffect(event, decision.effect)}, so "${decision.effect}" was ignored`,
    );
    delete allowedDecision.effect;
    delete allowedDecision.reason;
  }
  if (!isStopAllowed(event, decision.stop)) {
    notes.push(`${event} cannot stop the run, so "stop" was ignored`);
    delete allowedDecision.stop;
  }
  for (const field of listForbiddenFields(event, decision)) {
    if (isLate && field === 'context') continue;
    notes.push(`${event} cannot change "${field}", so it was ignored`);
    delete allowedDecision[field];
  }
  return { ...answer, notes, decision: allowedDecision };
}

/**
 * Applies the suspicion of an answer: a failure where failures refuse, else a warning in the verdict.
 * A refusal holds in any case.
 */
export function applySuspicion(answer: Answer, event: EventName, policy: FailurePolicy): Answer {
  const { suspicion, decision = {}, notes = [], failure } = answer;
  if (suspicion === undefined || failure !== undefined) return answer;
  const note = `suspicious: ${suspicion}`;
  const isRefused = decision.effect === 'deny' || decision.stop?.pending === 'skip';
  if (policy === 'closed' && !isRefused) {
    return { ...answer, failure: { kind: 'exit', message: suspicion }, notes: [...notes, note] };
  }
  const isGuard = EVENTS[event].refusal !== null;
  const warning = isGuard && !isRefused ? addWarning(decision, note) : decision;
  return { ...answer, decision: warning, notes: [...notes, note] };
}

function addWarning({ effect, reason, notice, ...others }: Decision, note: string): Decision {
  const ruling = effect === undefined || effect === 'allow' ? {} : { effect };
  return {
    ...others,
    ...ruling,
    ...(reason === undefined || effect === 'allow' ? {} : { reason }),
    notice: notice === undefined ? note : `${notice}\n${note}`,
  };
}

/**
 * Describes what is wrong with an answer, or returns null. A handler may be untyped JavaScript, and an
 * answer that cannot be read must not look like a pass.
 */
export function findAnswerProblem(answer: unknown): string | null {
  if (answer === undefined || answer === null) return null;
  if (!isPlainObject(answer)) {
    return `expected an answer such as { decision: { effect: "deny" } }, found ${describeValue(answer)}`;
  }
  for (const field in answer) {
    if (!ANSWER_FIELDS.has(field)) {
      return `expected an answer of ${[...ANSWER_FIELDS.keys()].join(', ')}, found the field "${field}"; what it decides belongs in "decision"`;
    }
  }
  return findFieldProblem('', ANSWER_FIELDS, answer) ?? findDecisionProblem(answer['decision']);
}

interface Expected {
  readonly words: string;
  readonly fits: (value: unknown) => boolean;
}

const ANYTHING: Expected = { words: 'anything', fits: () => true };
const TEXT: Expected = { words: 'a string', fits: (value) => typeof value === 'string' };
const FLAG: Expected = { words: 'true or false', fits: (value) => typeof value === 'boolean' };
const LIST: Expected = { words: 'a list', fits: (value) => Array.isArray(value) };
const TEXTS: Expected = {
  words: 'a list of strings',
  fits: (value) => Array.isArray(value) && value.every(TEXT.fits),
};
const OBJECT: Expected = { words: 'an object', fits: isPlainObject };
const PROMISE: Expected = { words: 'a promise', fits: (value) => value instanceof Promise };
const STOP: Expected = {
  words: '{ reason: a string, pending: "skip" or "run" }',
  fits: (value) =>
    isPlainObject(value) &&
    TEXT.fits(value['reason']) &&
    (value['pending'] === 'skip' || value['pending'] === 'run'),
};
const FAILURE: Expected = {
  words: `{ kind: ${expectOneOf(FAILURE_KINDS).words}, message: a string, hint: a string or nothing }`,
  fits: (value) =>
    isPlainObject(value) &&
    TEXT.fits(value['message']) &&
    (value['hint'] === undefined || TEXT.fits(value['hint'])) &&
    isOneOf(FAILURE_KINDS, value['kind']),
};

type Fields = ReadonlyMap<string, Expected>;

const ANSWER_FIELDS: Fields = createFields<Answer>({
  decision: OBJECT,
  failure: FAILURE,
  onFailure: expectOneOf(['open', 'closed']),
  suspicion: TEXT,
  notes: TEXTS,
  warnings: TEXTS,
  program: OBJECT,
  late: PROMISE,
});

const DECISION_FIELDS: Fields = createFields<Decision>({
  effect: expectOneOf(EFFECTS),
  reason: TEXT,
  reasonAsResult: FLAG,
  stop: STOP,
  notice: TEXT,
  wake: FLAG,
  inputFace: expectOneOf([...VOCABULARIES, ...AGENT_VOCABULARIES]),
  input: ANYTHING,
  output: ANYTHING,
  failed: FLAG,
  context: TEXT,
  prompt: TEXT,
  suppressPrompt: FLAG,
  classifierContext: TEXT,
  permissions: LIST,
  messages: LIST,
  tools: LIST,
  options: ANYTHING,
  title: TEXT,
  initialMessage: TEXT,
  instructions: TEXT,
  watchPaths: TEXTS,
  reloadSkills: FLAG,
  display: TEXT,
  retry: FLAG,
  worktreePath: TEXT,
  answer: ANYTHING,
});

function createFields<Shape>(fields: Readonly<Record<keyof Shape & string, Expected>>): Fields {
  return new Map(Object.entries<Expected>(fields));
}

function expectOneOf(values: readonly string[]): Expected {
  const words = `one of ${values.map((value) => `"${value}"`).join(', ')}`;
  return { words, fits: (value) => isOneOf(values, value) };
}

function isOneOf(values: readonly string[], value: unknown): boolean {
  return typeof value === 'string' && values.includes(value);
}

function findDecisionProblem(decision: unknown): string | null {
  return isPlainObject(decision) ? findFieldProblem('decision.', DECISION_FIELDS, decision) : null;
}

/** Unknown fields are ignored here; the check against the event's row reports them. */
function findFieldProblem(
  place: string,
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
): string | null {
  for (const field in values) {
    const value = values[field];
    const expected = value === undefined ? undefined : fields.get(field);
    if (expected?.fits(value) === false) {
      return `expected "${place}${field}" to be ${expected.words}, found ${describeValue(value)}`;
    }
  }
  return null;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm has that realm's Object.prototype, which has none either.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const SHOWN_CHARACTERS = 60;

function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_CHARACTERS));
  if (Array.isArray(value)) return 'a list';
  if (isPlainObject(value)) return `an object of ${Object.keys(value).join(', ') || 'nothing'}`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return `an object that is not plain (${Object.prototype.toString.call(value)})`;
}

const EFFECT_FIELDS = new Set([
  'effect',
  'reason',
  'reasonAsResult',
  'stop',
  'notice',
  'wake',
  'inputFace',
]);

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
    (field): field is ChangeField => !EFFECT_FIELDS.has(field) && !Object.hasOwn(listed, field),
  );
}
