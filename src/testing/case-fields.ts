import { dropUndefined } from '../base/defined.ts';
import { HooklineError, isHooklineError } from '../base/errors.ts';
import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import { DEFAULT_DIALECT } from '../dialects/index.ts';
import { findSetting, type Settings, SETTINGS } from '../host/settings.ts';
import { findExpectationProblem, isOperator } from './expectation.ts';
import { type EventDescription, type FireDescription, resolveEvent } from './resolve-event.ts';

/** The content of a case.json. */
export interface CaseFields {
  readonly about: string | null;
  readonly fire: FireDescription;
  readonly settings: Partial<Settings>;
  readonly env: Readonly<Record<string, string>>;
  /** Programs without which the case is skipped. */
  readonly needs: readonly string[];
  readonly expect: Readonly<Record<string, unknown>>;
}

/** `file` is the name in errors. */
export function parseCase(text: string, file: string): CaseFields {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    throw createCaseError(file, `it is not JSON: ${parsed.error}`);
  }
  const fields = checkRecord({ file, at: '' }, parsed.value);
  checkKeys({ file, at: '' }, fields, CASE_KEYS);
  return {
    about: fields['about'] === undefined ? null : checkText({ file, at: 'about' }, fields['about']),
    fire: readFire({ file, at: 'fire' }, fields['fire']),
    settings: readSettings({ file, at: 'settings' }, fields['settings'] ?? {}),
    env: readEnvironment({ file, at: 'env' }, fields['env'] ?? {}),
    needs: readNeeds({ file, at: 'needs' }, fields['needs'] ?? []),
    expect: readExpect({ file, at: 'expect' }, fields['expect']),
  };
}

/** Parses the `expect` of a case; `file` is the name in errors. */
export function parseExpectation(written: unknown, file: string): Fields {
  return readExpect({ file, at: 'expect' }, written);
}

export function createCaseError(file: string, problem: string, hint?: string): HooklineError {
  const message = `${file}: ${problem}`;
  return new HooklineError('CASE_INVALID', hint === undefined ? { message } : { message, hint });
}

const CASE_KEYS = ['about', 'fire', 'settings', 'env', 'needs', 'expect'];
const EVENT_KEYS = ['event', 'tool', 'input', 'result', 'success', 'prompt', 'source', 'facts'];
const PAYLOAD_KEYS = ['payload', 'as'];
const TEXT_LISTS: ReadonlySet<string> = new Set(['reasons', 'context', 'messages']);
const EXPECT_KEYS = [
  'event',
  'effect',
  'stop',
  'reasons',
  'input',
  'output',
  'changes',
  'context',
  'messages',
  'outcomes',
  'skipped',
  'slowest',
  'hooks',
  'ignored',
  'files',
];
const OUTCOME_KEYS = [
  'hook',
  'dialect',
  'source',
  'status',
  'effect',
  'pass',
  'part',
  'exitCode',
  'durationMs',
  'failure',
  'onFailure',
  'notes',
  'stdout',
  'stderr',
];
// A case must not expose keys, and tests write no trace.
const REFUSED_SETTINGS = /^(?:env|trace)\./u;

interface Place {
  readonly file: string;
  readonly at: string;
}

function readFire(place: Place, written: unknown): FireDescription {
  const fields = checkRecord(place, written);
  const isPayload = 'payload' in fields;
  checkKeys(place, fields, isPayload ? PAYLOAD_KEYS : EVENT_KEYS);
  const fire = isPayload ? readPayload(place, fields) : readDescription(place, fields);
  try {
    resolveEvent(fire);
  } catch (error) {
    throw toCaseInvalid(place, error);
  }
  return fire;
}

function toCaseInvalid({ file, at }: Place, error: unknown): unknown {
  return isHooklineError(error)
    ? createCaseError(file, `${at}: ${error.message}`, error.hint)
    : error;
}

type Fields = Readonly<Record<string, unknown>>;

function readPayload(place: Place, fields: Fields): FireDescription {
  return {
    payload: fields['payload'],
    as: checkText(joinPlace(place, 'as'), fields['as'] ?? DEFAULT_DIALECT),
  };
}

function readDescription(place: Place, fields: Fields): EventDescription {
  const { event, input, success, facts } = fields;
  const texts = ['tool', 'result', 'prompt', 'source'].flatMap((key): [string, string][] =>
    fields[key] === undefined ? [] : [[key, checkText(joinPlace(place, key), fields[key])]],
  );
  return {
    event: checkText(joinPlace(place, 'event'), event),
    ...Object.fromEntries(texts),
    ...dropUndefined({ input }),
    ...(success === undefined ? {} : { success: checkFlag(joinPlace(place, 'success'), success) }),
    ...(facts === undefined ? {} : { facts: checkRecord(joinPlace(place, 'facts'), facts) }),
  };
}

function readSettings(place: Place, written: unknown): Partial<Settings> {
  const fields = checkRecord(place, written);
  checkKeys(place, fields, Object.keys(SETTINGS));
  const settings = Object.entries(fields).map(([name, value]): [string, unknown] => {
    if (REFUSED_SETTINGS.test(name)) {
      throw createRefusal(place, `"${name}" cannot be set by a case`);
    }
    return [name, readSetting(joinPlace(place, name), name, value)];
  });
  return Object.fromEntries(settings);
}

function readSetting(place: Place, name: string, value: unknown): unknown {
  const setting = findSetting(name);
  if (setting === null) return value;
  const read = setting.read(value);
  if ('expected' in read) throw createFieldError(place, read.expected, value);
  return read.value;
}

function readEnvironment(place: Place, written: unknown): Readonly<Record<string, string>> {
  const fields = checkRecord(place, written);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, checkText(joinPlace(place, name), value)]),
  );
}

function readNeeds(place: Place, written: unknown): readonly string[] {
  if (!Array.isArray(written)) throw createFieldError(place, 'an array of program names', written);
  return written.map((name: unknown, index) =>
    checkText({ ...place, at: `${place.at}[${index}]` }, name),
  );
}

function readExpect(place: Place, written: unknown): Fields {
  const fields = checkRecord(place, written);
  checkKeys(place, fields, EXPECT_KEYS);
  if (Object.keys(fields).length === 0) {
    throw createRefusal(place, 'it expects nothing, so the case would always pass');
  }
  const problem = findExpectationProblem(fields, place.at);
  if (problem !== null) throw createCaseError(place.file, problem);
  const { outcomes } = fields;
  for (const outcome of Array.isArray(outcomes) ? outcomes : []) {
    if (isRecord(outcome) && !isOperator(outcome)) {
      checkKeys(joinPlace(place, 'outcomes'), outcome, OUTCOME_KEYS);
    }
  }
  return Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, toTexts(key, each)]));
}

/** In lists of attributed texts, a plain text is compared with `text` only. */
function toTexts(key: string, expected: unknown): unknown {
  if (!TEXT_LISTS.has(key) || !Array.isArray(expected)) return expected;
  return expected.map((each: unknown) =>
    typeof each === 'string' || isOperator(each) ? { text: each } : each,
  );
}

function checkKeys(place: Place, fields: Fields, knownKeys: readonly string[]): void {
  const unknown = Object.keys(fields).find((key) => !knownKeys.includes(key));
  if (unknown === undefined) return;
  const suggestion = findClosestName(unknown, knownKeys);
  throw createCaseError(
    place.file,
    `${formatPrefix(place)}unknown field "${unknown}"`,
    suggestion === null
      ? `Known fields: ${knownKeys.join(', ')}.`
      : `Did you mean "${suggestion}"?`,
  );
}

function checkRecord(place: Place, value: unknown): Fields {
  if (isRecord(value)) return value;
  throw createFieldError(place, 'an object', value);
}

function checkText(place: Place, value: unknown): string {
  if (typeof value === 'string') return value;
  throw createFieldError(place, 'a text', value);
}

function checkFlag(place: Place, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw createFieldError(place, 'true or false', value);
}

function joinPlace({ file, at }: Place, key: string): Place {
  return { file, at: `${at}.${key}` };
}

function createFieldError(place: Place, expected: string, value: unknown): HooklineError {
  const found = value === undefined ? 'nothing' : getTypeName(value);
  return createCaseError(place.file, `${formatPrefix(place)}should be ${expected}, found ${found}`);
}

function createRefusal(place: Place, problem: string): HooklineError {
  return createCaseError(place.file, `${formatPrefix(place)}${problem}`);
}

function formatPrefix({ at }: Place): string {
  return at === '' ? '' : `${at}: `;
}
