import { types } from 'node:util';
import { getErrorMessage } from '../../base/errors.ts';
import { truncateText } from '../../base/json.ts';

/** A value of a plugin as JSON text. */
export interface PlainText {
  readonly text: string;
  /** Whether the text is exactly what JSON.stringify would return. */
  readonly isExact: boolean;
  /** Whether the text was truncated. */
  readonly isCut: boolean;
}

/**
 * Formats any value as JSON. Cycles, big integers and properties that cannot be read are replaced by a
 * note. Reads no more of the value than fits into the limit. Never throws.
 */
export function toPlainText(value: unknown, limit: number): PlainText {
  const writer = new Writer(limit);
  try {
    const isSaid = writer.write(value);
    const text = isSaid ? writer.text() : `(${typeof value})`;
    return { text, isExact: isSaid && writer.isExact, isCut: writer.isFull };
  } catch (error) {
    // A proxy may throw anywhere, for example a list whose length is wrong.
    return { text: `(it cannot be shown: ${readReason(error)})`, isExact: false, isCut: false };
  }
}

const MAX_DEPTH = 200;

class Writer {
  isExact = true;
  isFull = false;
  #left: number;
  readonly #said: string[] = [];
  readonly #above = new Set<object>();

  constructor(limit: number) {
    this.#left = limit;
  }

  text(): string {
    return this.#said.join('');
  }

  /** Returns false when JSON cannot represent the value, as for functions. */
  write(given: unknown): boolean {
    return this.#writeJson(this.#asJson(given));
  }

  #writeJson(value: unknown): boolean {
    switch (typeof value) {
      case 'string':
        return this.#say(this.#quoted(value));
      case 'number':
        return this.#say(Number.isFinite(value) ? String(value) : 'null');
      case 'boolean':
        return this.#say(String(value));
      case 'bigint':
        return this.#sayInstead(value.toString());
      case 'object':
        return value === null ? this.#say('null') : this.#object(value);
      default:
        return false;
    }
  }

  #say(text: string): boolean {
    if (text.length > this.#left) this.isFull = true;
    if (this.#left > 0) this.#said.push(truncateText(text, this.#left));
    this.#left = Math.max(this.#left - text.length, 0);
    return true;
  }

  /** Quotes no more of a long text than the limit allows. */
  #quoted(text: string): string {
    if (text.length > this.#left) this.isFull = true;
    return JSON.stringify(truncateText(text, this.#left));
  }

  #sayInstead(words: string): boolean {
    this.isExact = false;
    return this.#say(this.#quoted(words));
  }

  /** Applies `toJSON`, as of dates. */
  #asJson(value: unknown): unknown {
    if (types.isBoxedPrimitive(value)) return value.valueOf();
    const isThing = typeof value === 'object' && value !== null;
    const own: unknown = isThing ? this.#read(value, 'toJSON') : undefined;
    if (typeof own !== 'function') return value;
    return this.#safely<unknown>(() => Reflect.apply(own, value, ['']));
  }

  #object(value: object): boolean {
    if (this.#above.has(value)) return this.#sayInstead('[circular]');
    if (this.#above.size >= MAX_DEPTH) return this.#sayInstead('[nested too deep]');
    this.#above.add(value);
    if (Array.isArray(value)) this.#list(value);
    else this.#fields(value);
    this.#above.delete(value);
    return true;
  }

  #list(list: readonly unknown[]): void {
    this.#say('[');
    for (let at = 0; at < list.length && !this.isFull; at += 1) {
      if (at > 0) this.#say(',');
      if (!this.write(this.#read(list, String(at)))) this.#say('null');
    }
    this.#say(']');
  }

  #fields(value: object): void {
    this.#say('{');
    let comma = '';
    for (const key of this.#keysOf(value)) {
      if (this.isFull) break;
      const field = this.#asJson(this.#read(value, key));
      if (!hasWord(field)) continue;
      this.#say(`${comma}${this.#quoted(key)}:`);
      this.#writeJson(field);
      comma = ',';
    }
    this.#say('}');
  }

  #keysOf(value: object): readonly string[] {
    const keys = this.#safely(() => Object.keys(value));
    return typeof keys === 'string' ? [] : keys;
  }

  #read(owner: object, key: string): unknown {
    return this.#safely<unknown>(() => Reflect.get(owner, key));
  }

  /** Getters of foreign objects may throw. */
  #safely<Value>(look: () => Value): Value | string {
    try {
      return look();
    } catch (error) {
      this.isExact = false;
      return `[cannot be read: ${readReason(error)}]`;
    }
  }
}

function hasWord(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

/** The message of a thrown value, which may be anything. */
export function readReason(error: unknown): string {
  try {
    const message: unknown = getErrorMessage(error);
    return typeof message === 'string' ? message : String(message);
  } catch {
    return 'it threw something that cannot be shown';
  }
}

/** The largest number of characters that are stored or shown of a plugin's value. */
export const MAX_PLAIN_CHARACTERS = 100_000;

/** The value itself where JSON can represent it; otherwise its text. */
export function toPlainData(value: unknown): unknown {
  if (typeof value === 'string') return toShownText(value);
  const plain = toPlainText(value, MAX_PLAIN_CHARACTERS);
  return plain.isExact && !plain.isCut ? value : withCutNote(plain);
}

/** Truncates a text of a plugin to the length that is shown. */
export function toShownText(text: string): string {
  if (text.length <= MAX_PLAIN_CHARACTERS) return text;
  return `${truncateText(text, MAX_PLAIN_CHARACTERS)}\n[cut: ${text.length} characters in all]`;
}

export function withCutNote({ text, isCut }: PlainText): string {
  return isCut ? `${text}\n[cut: only the first ${MAX_PLAIN_CHARACTERS} characters]` : text;
}
