import { HooklineError } from '../../base/errors.ts';
import { isRecord, parseJson, getTypeName } from '../../base/json.ts';
import { findClosestName } from '../../base/spelling.ts';
import { FAILURE_CLASSES, NO_USAGE, type Usage } from './model.ts';
import type { ScriptCall, ScriptFailure, ScriptTurn } from './scripted.ts';

/** Reads a scripted model's file: a JSON array of turns. */
export function parseScript(text: string, file: string): readonly ScriptTurn[] {
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalid({ file, path: '' }, `is no JSON: ${parsed.error}`);
  return listAt(parsed.value, { file, path: '' }).map(({ value, place }) => turnAt(value, place));
}

interface Place {
  readonly file: string;
  /** Below the whole: `[1].tools[0].name`. */
  readonly path: string;
}

const TURN_KEYS = ['text', 'thinking', 'tools', 'usage', 'failure'] as const;
const CALL_KEYS = ['name', 'input', 'id'] as const;
const FAILURE_KEYS = ['class', 'message', 'status', 'retryable'] as const;

function turnAt(value: unknown, place: Place): ScriptTurn {
  const turn = fieldsAt(value, place, TURN_KEYS);
  return {
    ...optional('text', turn, stringAt),
    ...optional('thinking', turn, stringAt),
    ...optional('tools', turn, callsAt),
    ...optional('usage', turn, usageAt),
    ...optional('failure', turn, failureAt),
  };
}

function callsAt(value: unknown, place: Place): readonly ScriptCall[] {
  return listAt(value, place).map((each) => {
    const call = fieldsAt(each.value, each.place, CALL_KEYS);
    return {
      name: stringAt(call.values['name'], below(each.place, 'name')),
      input: call.values['input'] ?? {},
      ...optional('id', call, stringAt),
    };
  });
}

function usageAt(value: unknown, place: Place): Partial<Usage> {
  const usage = fieldsAt(value, place, Object.keys(NO_USAGE));
  return {
    ...optional('inputTokens', usage, countAt),
    ...optional('outputTokens', usage, countAt),
    ...optional('cacheReadTokens', usage, countAt),
    ...optional('cacheWriteTokens', usage, countAt),
  };
}

function failureAt(value: unknown, place: Place): ScriptFailure {
  const failure = fieldsAt(value, place, FAILURE_KEYS);
  return {
    class: classAt(failure.values['class'], below(place, 'class')),
    ...optional('message', failure, stringAt),
    ...optional('status', failure, countAt),
    ...optional('retryable', failure, booleanAt),
  };
}

function classAt(value: unknown, place: Place): ScriptFailure['class'] {
  const found = FAILURE_CLASSES.find((each) => each === value);
  if (found !== undefined) return found;
  throw invalid(place, `must be one of ${FAILURE_CLASSES.join(', ')}`);
}

/** An object of the file, whose fields are all known ones. */
interface Fields {
  readonly values: Readonly<Record<string, unknown>>;
  readonly place: Place;
}

/** The field as an object of its own, empty when it is absent. */
function optional<Key extends string, Value>(
  key: Key,
  { values, place }: Fields,
  read: (value: unknown, place: Place) => Value,
): { [key in Key]?: Value } {
  const value = values[key];
  const field: { [key in Key]?: Value } = {};
  if (value !== undefined) field[key] = read(value, below(place, key));
  return field;
}

function listAt(value: unknown, place: Place): { value: unknown; place: Place }[] {
  if (!Array.isArray(value)) throw mismatch(place, 'an array', value);
  return value.map((each: unknown, index) => ({ value: each, place: below(place, index) }));
}

function fieldsAt(value: unknown, place: Place, known: readonly string[]): Fields {
  if (!isRecord(value)) throw mismatch(place, 'an object', value);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return { values: value, place };
  const meant = findClosestName(unknown, known);
  const hint = meant === null ? `known are ${known.join(', ')}` : `"${meant}" is probably meant`;
  throw invalid(place, `has an unknown field "${unknown}"; ${hint}`);
}

function stringAt(value: unknown, place: Place): string {
  if (typeof value !== 'string') throw mismatch(place, 'a string', value);
  return value;
}

function booleanAt(value: unknown, place: Place): boolean {
  if (typeof value !== 'boolean') throw mismatch(place, 'true or false', value);
  return value;
}

function countAt(value: unknown, place: Place): number {
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0;
  if (!isCount) throw mismatch(place, 'a whole number from 0', value);
  return value;
}

function below({ file, path }: Place, step: string | number): Place {
  return { file, path: typeof step === 'number' ? `${path}[${step}]` : `${path}.${step}` };
}

function mismatch(place: Place, expected: string, value: unknown): HooklineError {
  const found = typeof value === 'number' ? String(value) : getTypeName(value);
  return invalid(place, `must be ${expected}, found ${found}`);
}

function invalid({ file, path }: Place, problem: string): HooklineError {
  const subject = path === '' ? 'the script' : path;
  return new HooklineError('MODEL_SCRIPT_INVALID', {
    message: `${file}: ${subject} ${problem}`,
    hint: 'A script is a JSON array of turns such as { "text": "…", "tools": [{ "name": "Read", "input": { … } }] }.',
  });
}
