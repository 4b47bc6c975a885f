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
    const text = isSaid ? writer.getText() : `(${typeof value})`;
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
  #remaining: number;
  readonly #chunks: string[] = [];
  readonly #above = new Set<object>();

  constructor(limit: number) {
    this.#remaining = limit;
  }

  getText(): string {
    return this.#chunks.join('');
  }

  /** Returns false when JSON cannot represent the value, as for functions. */
  write(value: unknown): boolean {
    return this.#writeJson(this.#toJson(value));
  }

  #writeJson(value: unknown): boolean {
    switch (typeof value) {
      case 'string':
        return this.#append(this.#quote(value));
      case 'number':
        return this.#append(Number.isFinite(value) ? String(value) : 'null');
      case 'boolean':
        return this.#append(String(value));
      case 'bigint':
        return this.#appendNote(value.toString());
      case 'object':
        return value === null ? this.#append('null') : this.#writeObject(value);
      default:
        return false;
    }
  }

  #append(text: string): boolean {
    if (text.length > this.#remaining) this.isFull = true;
    if (this.#remaining > 0) this.#chunks.push(truncateText(text, this.#remaining));
    this.#remaining = Math.max(this.#remaining - text.length, 0);
    return true;
  }

  /** Quotes no more of a long text than the limit allows. */
  #quote(text: string): string {
    if (text.length > this.#remaining) this.isFull = true;
    return JSON.stringify(truncateText(text, this.#remaining));
  }

  #appendNote(words: string): boolean {
    this.isExact = false;
    return this.#append(this.#quote(words));
  }

  /** Applies `toJSON`, as of dates. */
  #toJson(value: unknown): unknown {
    if (types.isBoxedPrimitive(value)) return value.valueOf();
    const isThing = typeof value === 'object' && value !== null;
    const own: unknown = isThing ? this.#read(value, 'toJSON') : undefined;
    if (typeof own !== 'function') return value;
    return this.#trySafely<unknown>(() => Reflect.apply(own, value, ['']));
  }

  #writeObject(value: object): boolean {
    if (this.#above.has(value)) return this.#appendNote('[circular]');
    if (this.#above.size >= MAX_DEPTH) return this.#appendNote('[nested too deep]');
    this.#above.add(value);
    if (Array.isArray(value)) this.#writeList(value);
    else this.#writeFields(value);
    this.#above.delete(value);
    return true;
  }

  #writeList(list: readonly unknown[]): void {
    this.#append('[');
    for (let at = 0; at < list.length && !this.isFull; at += 1) {
      if (at > 0) this.#append(',');
      if (!this.write(this.#read(list, String(at)))) this.#append('null');
    }
    this.#append(']');
  }

  #writeFields(value: object): void {
    this.#append('{');
    let comma = '';
    for (const key of this.#listKeys(value)) {
      if (this.isFull) break;
      const field = this.#toJson(this.#read(value, key));
      if (!isRepresentable(field)) continue;
      this.#append(`${comma}${this.#quote(key)}:`);
      this.#writeJson(field);
      comma = ',';
    }
    this.#append('}');
  }

  #listKeys(value: object): readonly string[] {
    const keys = this.#trySafely(() => Object.keys(value));
    return typeof keys === 'string' ? [] : keys;
  }

  #read(owner: object, key: string): unknown {
    return this.#trySafely<unknown>(() => Reflect.get(owner, key));
  }

  /** Getters of foreign objects may throw. */
  #trySafely<Value>(look: () => Value): Value | string {
    try {
      return look();
    } catch (error) {
      this.isExact = false;
      return `[cannot be read: ${readReason(error)}]`;
    }
  }
}

function isRepresentable(value: unknown): boolean {
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
