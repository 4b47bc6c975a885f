import { HooklineError } from '../../../base/errors.ts';
import { isRecord, getTypeName } from '../../../base/json.ts';

/** Reads the fields of an object; throws PAYLOAD_INVALID with the field's path for a wrong type. */
export interface PayloadReader {
  text(key: string): string;
  /** Reads the text at `key` or `alias`; `fallback` when both are absent. */
  textOr(key: string, fallback: string, alias?: string): string;
  findText(key: string): string | undefined;
  findTexts(key: string): readonly string[] | undefined;
  findNumber(key: string): number | undefined;
  findFlag(key: string): boolean | undefined;
  findItems(key: string): readonly unknown[] | undefined;
  /** Reads a list of objects. */
  findList(key: string): readonly PayloadReader[] | undefined;
  find(key: string): PayloadReader | undefined;
  findChoice<Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined;
  value(key: string): unknown;
}

export function createPayloadReader(value: unknown, place = ''): PayloadReader {
  if (!isRecord(value)) throw createFieldError(place === '' ? 'it' : place, 'an object', value);
  const at = (key: string): string => (place === '' ? key : `${place}.${key}`);
  const reader: PayloadReader = {
    text: (key) => {
      const text = reader.findText(key);
      if (text === undefined) throw createFieldError(at(key), 'a text', undefined);
      return text;
    },
    textOr: (key, fallback, alias) => {
      const other = alias === undefined ? undefined : reader.findText(alias);
      return reader.findText(key) ?? other ?? fallback;
    },
    findText: (key) => checkOptional(value[key], isText, { place: at(key), expected: 'a text' }),
    findTexts: (key) =>
      findItems(value[key], at(key))?.map((item, index) =>
        readItemText(item, `${at(key)}[${index}]`),
      ),
    findNumber: (key) =>
      checkOptional(value[key], isNumber, { place: at(key), expected: 'a number' }),
    findFlag: (key) =>
      checkOptional(value[key], isFlag, { place: at(key), expected: 'true or false' }),
    findItems: (key) => findItems(value[key], at(key)),
    findList: (key) =>
      findItems(value[key], at(key))?.map((item, index) =>
        createPayloadReader(item, `${at(key)}[${index}]`),
      ),
    find: (key) => (isAbsent(value[key]) ? undefined : createPayloadReader(value[key], at(key))),
    findChoice: (key, choices) => {
      const text = reader.findText(key);
      const choice = choices.find((each) => each === text);
      if (text === undefined || choice !== undefined) return choice;
      throw createPayloadError(
        `"${at(key)}" should be one of ${choices.join(', ')}, found "${text}"`,
      );
    },
    value: (key) => value[key],
  };
  return reader;
}

export function createPayloadError(problem: string): HooklineError {
  return new HooklineError('PAYLOAD_INVALID', {
    message: `not a payload of a Claude hook: ${problem}`,
    hint: 'A Claude payload is one JSON object with "hook_event_name" and the fields of that event.',
  });
}

interface Expected {
  readonly place: string;
  readonly expected: string;
}

function checkOptional<Type>(
  value: unknown,
  fits: (candidate: unknown) => candidate is Type,
  { place, expected }: Expected,
): Type | undefined {
  if (isAbsent(value)) return undefined;
  if (fits(value)) return value;
  throw createFieldError(place, expected, value);
}

function findItems(value: unknown, place: string): readonly unknown[] | undefined {
  return checkOptional(value, isList, { place, expected: 'a list' });
}

function readItemText(item: unknown, place: string): string {
  if (isText(item)) return item;
  throw createFieldError(place, 'a text', item);
}

function createFieldError(place: string, expected: string, value: unknown): HooklineError {
  const found = value === undefined ? 'nothing' : getTypeName(value);
  return createPayloadError(
    `${place === 'it' ? place : `"${place}"`} should be ${expected}, found ${found}`,
  );
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
