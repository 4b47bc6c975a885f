import { isRecord } from '../../base/json.ts';

/**
 * Reads what a model gave, field by field. A field that is wrong is remembered and read as some value of
 * the right type, so that a tool reads all of its fields in one expression and nobody uses the result.
 * A field that is null counts as absent.
 */
export interface InputFields {
  text(key: string): string;
  /** Null when it is absent. */
  optionalText(key: string): string | null;
  /** Neither empty nor only spaces. */
  requiredText(key: string): string;
  /** 1 or more; null when it is absent. */
  optionalPositiveInteger(key: string): number | null;
  /** 0 or more; null when it is absent. */
  optionalCount(key: string): number | null;
  /** False when it is absent. */
  flag(key: string): boolean;
  oneOf<Choice extends string>(key: string, choices: readonly [Choice, ...Choice[]]): Choice;
  /** Null when it is absent. */
  optionalOneOf<Choice extends string>(key: string, choices: readonly Choice[]): Choice | null;
  /** A list of objects. */
  list<Item>(key: string, read: (item: InputFields) => Item): readonly Item[];
  /** Empty when it is absent. */
  optionalTexts(key: string): readonly string[];
  /** As it was given, whatever it is. */
  raw(key: string): unknown;
  has(key: string): boolean;
  /** Says that a field, read well, cannot be used: `expected "url" to be …`. */
  reject(key: string, expected: string): void;
  /** The first thing that was wrong in what has been read so far, as a sentence for the model. */
  findProblem(): string | null;
}

/** `place` is put before the names of fields: `todos[0].`. */
export function createInputFields(
  given: Readonly<Record<string, unknown>>,
  place = '',
): InputFields {
  return new RecordFields(given, place);
}

class RecordFields implements InputFields {
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #place: string;
  #wrong: string | null = null;

  constructor(given: Readonly<Record<string, unknown>>, place: string) {
    this.#given = given;
    this.#place = place;
  }

  text(key: string): string {
    const value = this.#valueOf(key);
    if (typeof value === 'string') return value;
    this.reject(key, 'text');
    return '';
  }

  optionalText(key: string): string | null {
    return this.has(key) ? this.text(key) : null;
  }

  requiredText(key: string): string {
    const text = this.text(key);
    if (text.trim() === '') this.reject(key, 'text that is not empty');
    return text;
  }

  optionalPositiveInteger(key: string): number | null {
    return this.#optionalInteger(key, { least: 1, expected: 'a whole number from 1 on' });
  }

  optionalCount(key: string): number | null {
    return this.#optionalInteger(key, { least: 0, expected: 'a whole number from 0 on' });
  }

  #optionalInteger(key: string, range: { least: number; expected: string }): number | null {
    if (!this.has(key)) return null;
    const number = parseNumber(this.#valueOf(key));
    if (Number.isSafeInteger(number) && number >= range.least) return number;
    this.reject(key, range.expected);
    return null;
  }

  flag(key: string): boolean {
    if (!this.has(key)) return false;
    const value = this.#valueOf(key);
    if (value === true || value === 'true') return true;
    if (value !== false && value !== 'false') this.reject(key, 'true or false');
    return false;
  }

  oneOf<Choice extends string>(key: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const value = this.#valueOf(key);
    const choice = choices.find((each) => each === value);
    if (choice === undefined) this.reject(key, formatChoices(choices));
    return choice ?? choices[0];
  }

  optionalOneOf<Choice extends string>(key: string, choices: readonly Choice[]): Choice | null {
    if (!this.has(key)) return null;
    const value = this.#valueOf(key);
    const choice = choices.find((each) => each === value);
    if (choice === undefined) this.reject(key, formatChoices(choices));
    return choice ?? null;
  }

  list<Item>(key: string, read: (item: InputFields) => Item): readonly Item[] {
    const items = this.#valueOf(key);
    if (!Array.isArray(items)) {
      this.reject(key, 'a list');
      return [];
    }
    return items.map((item: unknown, index) => {
      const place = `${key}[${index}]`;
      if (!isRecord(item)) this.#blame(place, 'an object', item);
      const fields = createInputFields(isRecord(item) ? item : {}, `${this.#place}${place}.`);
      const made = read(fields);
      this.#wrong ??= fields.findProblem();
      return made;
    });
  }

  optionalTexts(key: string): readonly string[] {
    if (!this.has(key)) return [];
    const items = this.#valueOf(key);
    if (!Array.isArray(items)) {
      this.reject(key, 'a list of texts');
      return [];
    }
    return items.flatMap((item: unknown, index) => {
      if (typeof item === 'string') return [item];
      this.#blame(`${key}[${index}]`, 'text', item);
      return [];
    });
  }

  raw(key: string): unknown {
    return this.#valueOf(key);
  }

  has(key: string): boolean {
    const value = this.#valueOf(key);
    return value !== undefined && value !== null;
  }

  reject(key: string, expected: string): void {
    this.#blame(key, expected, this.#valueOf(key));
  }

  findProblem(): string | null {
    return this.#wrong;
  }

  #blame(name: string, expected: string, value: unknown): void {
    this.#wrong ??= `expected "${this.#place}${name}" to be ${expected}, found ${describeValue(value)}`;
  }

  #valueOf(key: string): unknown {
    return Object.hasOwn(this.#given, key) ? this.#given[key] : undefined;
  }
}

/** Small models write numbers as text. */
function parseNumber(value: unknown): number {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return typeof value === 'number' ? value : Number.NaN;
}

function formatChoices(choices: readonly string[]): string {
  return `one of ${choices.map((choice) => `"${choice}"`).join(', ')}`;
}

const MAX_VALUE_CHARACTERS = 60;

function describeValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean')
    return `${describeType(value)}: ${value}`;
  if (typeof value !== 'string') return describeType(value);
  if (value === '') return 'an empty text';
  return value.length > MAX_VALUE_CHARACTERS ? 'a text' : `the text ${JSON.stringify(value)}`;
}

/** A value's JSON type as a person would say it. */
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
