import { findClosestName } from '../base/did-you-mean.ts';
import { HooklineError } from '../base/errors.ts';
import { isRecord, getTypeName } from '../base/json.ts';

/** Whose payloads are read, for messages. */
export interface PayloadOwner {
  readonly agent: string;
  /** What a payload of this agent is. */
  readonly hint: string;
}

/** Reads the fields of an object; throws PAYLOAD_INVALID with the field's path for a wrong type. */
export class PayloadReader {
  readonly #owner: PayloadOwner;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #place: string;

  constructor(value: unknown, owner: PayloadOwner, place = '') {
    this.#owner = owner;
    this.#place = place;
    if (!isRecord(value)) throw this.#createFieldError(place || 'it', 'an object', value);
    this.#fields = value;
  }

  get fields(): Readonly<Record<string, unknown>> {
    return this.#fields;
  }

  /** Reads the name of an event; throws with the closest name for an unknown one. */
  eventName<Name extends string>(key: string, names: readonly Name[]): Name {
    const name = this.text(key);
    const known = names.find((each) => each === name);
    if (known !== undefined) return known;
    const suggestion = findClosestName(name, names);
    const advice = suggestion === null ? '' : `; did you mean ${suggestion}?`;
    throw createPayloadError(
      this.#owner,
      `"${key}" should name an event of ${this.#owner.agent}, found "${name}"${advice}`,
    );
  }

  #getPath(key: string): string {
    return this.#place === '' ? key : `${this.#place}.${key}`;
  }

  text(key: string): string {
    const text = this.findText(key);
    if (text === undefined) throw this.#createFieldError(this.#getPath(key), 'a text', undefined);
    return text;
  }

  /** Reads the text at `key` or `alias`; `fallback` when both are absent. */
  textOr(key: string, fallback: string, alias?: string): string {
    const other = alias === undefined ? undefined : this.findText(alias);
    return this.findText(key) ?? other ?? fallback;
  }

  findText(key: string): string | undefined {
    return this.#checkOptional(key, isText, 'a text');
  }

  findTexts(key: string): readonly string[] | undefined {
    return this.findItems(key)?.map((item, index) => {
      if (isText(item)) return item;
      throw this.#createFieldError(`${this.#getPath(key)}[${index}]`, 'a text', item);
    });
  }

  findNumber(key: string): number | undefined {
    return this.#checkOptional(key, isNumber, 'a number');
  }

  findFlag(key: string): boolean | undefined {
    return this.#checkOptional(key, isFlag, 'true or false');
  }

  findItems(key: string): readonly unknown[] | undefined {
    return this.#checkOptional(key, isList, 'a list');
  }

  /** Reads a list of objects. */
  findList(key: string): readonly PayloadReader[] | undefined {
    return this.findItems(key)?.map(
      (item, index) => new PayloadReader(item, this.#owner, `${this.#getPath(key)}[${index}]`),
    );
  }

  find(key: string): PayloadReader | undefined {
    const value = this.#fields[key];
    return isAbsent(value) ? undefined : new PayloadReader(value, this.#owner, this.#getPath(key));
  }

  findChoice<Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.findText(key);
    const choice = choices.find((each) => each === text);
    if (text === undefined || choice !== undefined) return choice;
    throw createPayloadError(
      this.#owner,
      `"${this.#getPath(key)}" should be one of ${choices.join(', ')}, found "${text}"`,
    );
  }

  value(key: string): unknown {
    return this.#fields[key];
  }

  #checkOptional<Type>(
    key: string,
    fits: (candidate: unknown) => candidate is Type,
    expected: string,
  ): Type | undefined {
    const value = this.#fields[key];
    if (isAbsent(value)) return undefined;
    if (fits(value)) return value;
    throw this.#createFieldError(this.#getPath(key), expected, value);
  }

  #createFieldError(place: string, expected: string, value: unknown): HooklineError {
    const found = value === undefined ? 'nothing' : getTypeName(value);
    const subject = place === 'it' ? place : `"${place}"`;
    return createPayloadError(this.#owner, `${subject} should be ${expected}, found ${found}`);
  }
}

function createPayloadError({ agent, hint }: PayloadOwner, problem: string): HooklineError {
  return new HooklineError('PAYLOAD_INVALID', {
    message: `not a payload of a ${agent} hook: ${problem}`,
    hint,
  });
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
