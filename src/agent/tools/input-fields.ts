import { isRecord } from '../../base/json.ts';

/**
 * Parses a model's input field by field. An invalid field is recorded and parsed as a default of the right
 * type, so that a tool can parse all fields in one expression; the result is then discarded. A null field
 * counts as absent.
 */
export class InputFields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #place: string;
  #problem: string | null = null;

  /** `place` is the path prefix of field names: `todos[0].`. */
  constructor(values: Readonly<Record<string, unknown>>, place = '') {
    this.#values = values;
    this.#place = place;
  }

  text(key: string): string {
    const value = this.#getValue(key);
    if (typeof value === 'string') return value;
    this.reject(key, 'text');
    return '';
  }

  /** Null when it is absent. */
  optionalText(key: string): string | null {
    return this.has(key) ? this.text(key) : null;
  }

  /** Rejects empty text and only white space. */
  requiredText(key: string): string {
    const text = this.text(key);
    if (text.trim() === '') this.reject(key, 'text that is not empty');
    return text;
  }

  /** 1 or more; null when absent. */
  optionalPositiveInteger(key: string): number | null {
    return this.#optionalInteger(key, { least: 1, expected: 'a whole number from 1 on' });
  }

  /** 0 or more; null when absent. */
  optionalCount(key: string): number | null {
    return this.#optionalInteger(key, { least: 0, expected: 'a whole number from 0 on' });
  }

  #optionalInteger(key: string, range: { least: number; expected: string }): number | null {
    if (!this.has(key)) return null;
    const number = parseNumber(this.#getValue(key));
    if (Number.isSafeInteger(number) && number >= range.least) return number;
    this.reject(key, range.expected);
    return null;
  }

  /** False when it is absent. */
  flag(key: string): boolean {
    if (!this.has(key)) return false;
    const value = this.#getValue(key);
    if (value === true || value === 'true') return true;
    if (value !== false && value !== 'false') this.reject(key, 'true or false');
    return false;
  }

  oneOf<Choice extends string>(key: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const value = this.#getValue(key);
    const choice = choices.find((each) => each === value);
    if (choice === undefined) this.reject(key, formatChoices(choices));
    return choice ?? choices[0];
  }

  /** Null when it is absent. */
  optionalOneOf<Choice extends string>(key: string, choices: readonly Choice[]): Choice | null {
    if (!this.has(key)) return null;
    const value = this.#getValue(key);
    const choice = choices.find((each) => each === value);
    if (choice === undefined) this.reject(key, formatChoices(choices));
    return choice ?? null;
  }

  /** A list of objects. */
  list<Item>(key: string, read: (item: InputFields) => Item): readonly Item[] {
    const items = this.#getValue(key);
    if (!Array.isArray(items)) {
      this.reject(key, 'a list');
      return [];
    }
    return items.map((item: unknown, index) => {
      const place = `${key}[${index}]`;
      if (!isRecord(item)) this.#addProblem(place, 'an object', item);
      const fields = new InputFields(isRecord(item) ? item : {}, `${this.#place}${place}.`);
      const parsed = read(fields);
      this.#problem ??= fields.findProblem();
      return parsed;
    });
  }

  /** Empty when it is absent. */
  optionalTexts(key: string): readonly string[] {
    if (!this.has(key)) return [];
    const items = this.#getValue(key);
    if (!Array.isArray(items)) {
      this.reject(key, 'a list of texts');
      return [];
    }
    return items.flatMap((item: unknown, index) => {
      if (typeof item === 'string') return [item];
      this.#addProblem(`${key}[${index}]`, 'text', item);
      return [];
    });
  }

  /** The raw value. */
  raw(key: string): unknown {
    return this.#getValue(key);
  }

  has(key: string): boolean {
    const value = this.#getValue(key);
    return value !== undefined && value !== null;
  }

  /** Records that a valid field cannot be used: `expected "url" to be …`. */
  reject(key: string, expected: string): void {
    this.#addProblem(key, expected, this.#getValue(key));
  }

  /** The first recorded problem, as a sentence for the model. */
  findProblem(): string | null {
    return this.#problem;
  }

  #addProblem(name: string, expected: string, value: unknown): void {
    this.#problem ??= `expected "${this.#place}${name}" to be ${expected}, found ${describeValue(value)}`;
  }

  #getValue(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
  }
}

/** Small models write numbers as strings. */
function parseNumber(value: unknown): number {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return typeof value === 'number' ? value : Number.NaN;
}

function formatChoices(choices: readonly string[]): string {
  return `one of ${choices.map((choice) => `"${choice}"`).join(', ')}`;
}

const MAX_VALUE_CHARACTERS = 60;

function describeValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') {
    return `${describeType(value)}: ${value}`;
  }
  if (typeof value !== 'string') return describeType(value);
  if (value === '') return 'an empty text';
  return value.length > MAX_VALUE_CHARACTERS ? 'a text' : `the text ${JSON.stringify(value)}`;
}

/** The JSON type in words. */
export function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  const names: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    boolean: 'a truth value',
  };
  return names[typeof value] ?? 'an object';
}
