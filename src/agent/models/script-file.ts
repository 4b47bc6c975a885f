import { HooklineError } from '../../base/errors.ts';
import { isRecord, parseJson, getTypeName } from '../../base/json.ts';
import { findClosestName } from '../../base/did-you-mean.ts';
import { FAILURE_CLASSES, NO_USAGE, type Usage } from './model.ts';
import type { ScriptCall, ScriptFailure, ScriptTurn } from './scripted.ts';

/** Parses the file of a scripted model: a JSON array of turns. */
export function parseScript(text: string, file: string): readonly ScriptTurn[] {
  const parsed = parseJson(text);
  if (!parsed.ok) throw createScriptError({ file, path: '' }, `is not valid JSON: ${parsed.error}`);
  return parseList(parsed.value, { file, path: '' }).map(({ value, place }) =>
    parseTurn(value, place),
  );
}

interface ScriptPath {
  readonly file: string;
  /** The path inside the document: `[1].tools[0].name`. */
  readonly path: string;
}

const TURN_KEYS = ['text', 'thinking', 'tools', 'usage', 'failure'] as const;
const CALL_KEYS = ['name', 'input', 'id'] as const;
const FAILURE_KEYS = ['class', 'message', 'status', 'retryable'] as const;

function parseTurn(value: unknown, place: ScriptPath): ScriptTurn {
  const turn = parseFields(value, place, TURN_KEYS);
  return {
    ...parseOptional('text', turn, parseString),
    ...parseOptional('thinking', turn, parseString),
    ...parseOptional('tools', turn, parseCalls),
    ...parseOptional('usage', turn, parseUsage),
    ...parseOptional('failure', turn, parseFailure),
  };
}

function parseCalls(value: unknown, place: ScriptPath): readonly ScriptCall[] {
  return parseList(value, place).map((each) => {
    const call = parseFields(each.value, each.place, CALL_KEYS);
    return {
      name: parseString(call.values['name'], appendStep(each.place, 'name')),
      input: call.values['input'] ?? {},
      ...parseOptional('id', call, parseString),
    };
  });
}

function parseUsage(value: unknown, place: ScriptPath): Partial<Usage> {
  const usage = parseFields(value, place, Object.keys(NO_USAGE));
  return {
    ...parseOptional('inputTokens', usage, parseCount),
    ...parseOptional('outputTokens', usage, parseCount),
    ...parseOptional('cacheReadTokens', usage, parseCount),
    ...parseOptional('cacheWriteTokens', usage, parseCount),
  };
}

function parseFailure(value: unknown, place: ScriptPath): ScriptFailure {
  const failure = parseFields(value, place, FAILURE_KEYS);
  return {
    class: parseClass(failure.values['class'], appendStep(place, 'class')),
    ...parseOptional('message', failure, parseString),
    ...parseOptional('status', failure, parseCount),
    ...parseOptional('retryable', failure, parseBoolean),
  };
}

function parseClass(value: unknown, place: ScriptPath): ScriptFailure['class'] {
  const found = FAILURE_CLASSES.find((each) => each === value);
  if (found !== undefined) return found;
  throw createScriptError(place, `must be one of ${FAILURE_CLASSES.join(', ')}`);
}

/** An object whose keys are all known. */
interface Fields {
  readonly values: Readonly<Record<string, unknown>>;
  readonly place: ScriptPath;
}

/** An object with the parsed field, or an empty one when the field is absent. */
function parseOptional<Key extends string, Value>(
  key: Key,
  { values, place }: Fields,
  read: (value: unknown, place: ScriptPath) => Value,
): { [key in Key]?: Value } {
  const value = values[key];
  const field: { [key in Key]?: Value } = {};
  if (value !== undefined) field[key] = read(value, appendStep(place, key));
  return field;
}

function parseList(value: unknown, place: ScriptPath): { value: unknown; place: ScriptPath }[] {
  if (!Array.isArray(value)) throw createTypeError(place, 'an array', value);
  return value.map((each: unknown, index) => ({ value: each, place: appendStep(place, index) }));
}

function parseFields(value: unknown, place: ScriptPath, known: readonly string[]): Fields {
  if (!isRecord(value)) throw createTypeError(place, 'an object', value);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return { values: value, place };
  const closest = findClosestName(unknown, known);
  const hint =
    closest === null ? `known fields: ${known.join(', ')}` : `did you mean "${closest}"?`;
  throw createScriptError(place, `has an unknown field "${unknown}"; ${hint}`);
}

function parseString(value: unknown, place: ScriptPath): string {
  if (typeof value !== 'string') throw createTypeError(place, 'a string', value);
  return value;
}

function parseBoolean(value: unknown, place: ScriptPath): boolean {
  if (typeof value !== 'boolean') throw createTypeError(place, 'true or false', value);
  return value;
}

function parseCount(value: unknown, place: ScriptPath): number {
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0;
  if (!isCount) throw createTypeError(place, 'a whole number from 0', value);
  return value;
}

function appendStep({ file, path }: ScriptPath, step: string | number): ScriptPath {
  return { file, path: typeof step === 'number' ? `${path}[${step}]` : `${path}.${step}` };
}

function createTypeError(place: ScriptPath, expected: string, value: unknown): HooklineError {
  const found = typeof value === 'number' ? String(value) : getTypeName(value);
  return createScriptError(place, `must be ${expected}, found ${found}`);
}

function createScriptError({ file, path }: ScriptPath, problem: string): HooklineError {
  const subject = path === '' ? 'the script' : path;
  return new HooklineError('MODEL_SCRIPT_INVALID', {
    message: `${file}: ${subject} ${problem}`,
    hint: 'A script is a JSON array of turns such as { "text": "…", "tools": [{ "name": "Read", "input": { … } }] }.',
  });
}
