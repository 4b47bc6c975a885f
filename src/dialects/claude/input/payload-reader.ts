import { HooklineError } from '../../../base/errors.ts';
import { isRecord, getTypeName } from '../../../base/json.ts';

/** Reads the fields of an object; throws PAYLOAD_INVALID with the field's path for a wrong type. */
export class PayloadReader {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #place: string;

  constructor(value: unknown, place = '') {
    if (!isRecord(value)) throw createFieldError(place === '' ? 'it' : place, 'an object', value);
    this.#fields = value;
    this.#place = place;
  }

  #getPath(key: string): string {
    return this.#place === '' ? key : `${this.#place}.${key}`;
  }

  text(key: string): string {
    const text = this.findText(key);
    if (text === undefined) throw createFieldError(this.#getPath(key), 'a text', undefined);
    return text;
  }

  /** Reads the text at `key` or `alias`; `fallback` when both are absent. */
  textOr(key: string, fallback: string, alias?: string): string {
    const other = alias === undefined ? undefined : this.findText(alias);
    return this.findText(key) ?? other ?? fallback;
  }

  findText(key: string): string | undefined {
    return checkOptional(this.#fields[key], isText, this.#getPath(key), 'a text');
  }

  findTexts(key: string): readonly string[] | undefined {
    return this.findItems(key)?.map((item, index) => {
      if (isText(item)) return item;
      throw createFieldError(`${this.#getPath(key)}[${index}]`, 'a text', item);
    });
  }

  findNumber(key: string): number | undefined {
    return checkOptional(this.#fields[key], isNumber, this.#getPath(key), 'a number');
  }

  findFlag(key: string): boolean | undefined {
    return checkOptional(this.#fields[key], isFlag, this.#getPath(key), 'true or false');
  }

  findItems(key: string): readonly unknown[] | undefined {
    return checkOptional(this.#fields[key], isList, this.#getPath(key), 'a list');
  }

  /** Reads a list of objects. */
  findList(key: string): readonly PayloadReader[] | undefined {
    return this.findItems(key)?.map(
      (item, index) => new PayloadReader(item, `${this.#getPath(key)}[${index}]`),
    );
  }

  find(key: string): PayloadReader | undefined {
    const value = this.#fields[key];
    return isAbsent(value) ? undefined : new PayloadReader(value, this.#getPath(key));
  }

  findChoice<Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.findText(key);
    const choice = choices.find((each) => each === text);
    if (text === undefined || choice !== undefined) return choice;
    throw createPayloadError(
      `"${this.#getPath(key)}" should be one of ${choices.join(', ')}, found "${text}"`,
    );
  }

  value(key: string): unknown {
    return this.#fields[key];
  }
}

export function createPayloadError(problem: string): HooklineError {
  return new HooklineError('PAYLOAD_INVALID', {
    message: `not a payload of a Claude hook: ${problem}`,
    hint: 'A Claude payload is one JSON object with "hook_event_name" and the fields of that event.',
  });
}

function checkOptional<Type>(
  value: unknown,
  fits: (candidate: unknown) => candidate is Type,
  place: string,
  expected: string,
): Type | undefined {
  if (isAbsent(value)) return undefined;
  if (fits(value)) return value;
  throw createFieldError(place, expected, value);
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
