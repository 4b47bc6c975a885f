import { type Decision, EFFECTS, FAILURE_KINDS } from './decision.ts';
import { VOCABULARIES } from '../tool-vocabularies/tool-views.ts';
import type { Answer } from './handler.ts';

/**
 * Says what is wrong with an answer, or null. A handler may be JavaScript that no compiler has
 * seen, and an answer that nobody understands must not look like a pass.
 */
export function findAnswerProblem(answer: unknown): string | null {
  if (answer === undefined || answer === null) return null;
  if (!isPlainObject(answer)) {
    return `expected an answer such as { decision: { effect: "deny" } }, found ${describeValue(answer)}`;
  }
  for (const field in answer) {
    if (!ANSWER_FIELDS.has(field)) {
      return `expected an answer of ${[...ANSWER_FIELDS.keys()].join(', ')}, found the field "${field}"; what it decides belongs into "decision"`;
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
  words: `{ kind: ${expectOneOf(FAILURE_KINDS).words}, message: a string }`,
  fits: (value) =>
    isPlainObject(value) && TEXT.fits(value['message']) && isOneOf(FAILURE_KINDS, value['kind']),
};

type Fields = ReadonlyMap<string, Expected>;

const ANSWER_FIELDS: Fields = createFields<Answer>({
  decision: OBJECT,
  failure: FAILURE,
  notes: TEXTS,
  program: OBJECT,
  late: PROMISE,
});

const DECISION_FIELDS: Fields = createFields<Decision>({
  effect: expectOneOf(EFFECTS),
  reason: TEXT,
  stop: STOP,
  notice: TEXT,
  wake: FLAG,
  inputFace: expectOneOf(VOCABULARIES),
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

/** Fields that are not known are left to the event's row, which notes them. */
function findFieldProblem(
  place: string,
  fields: Fields,
  given: Readonly<Record<string, unknown>>,
): string | null {
  for (const field in given) {
    const value = given[field];
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
