/** The value, or what was expected instead. */
export type SettingResult<Value> = { readonly value: Value } | { readonly expected: string };

/** A kind of value: how it is read, and its JSON Schema for editors. */
export interface SettingKind<Value> {
  read(written: unknown): SettingResult<Value>;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** A value that a configuration file, an environment variable or a caller sets. */
export interface Setting<Value = unknown> extends SettingKind<Value> {
  readonly description: string;
  readonly defaultValue: Value;
  /** An environment variable that sets it, as a string. */
  readonly variable?: string;
  /** Returns the value that a workspace may set; absent when a workspace may not set it at all. */
  tighten?(current: Value, offered: Value): Value;
}

/** Settings by the names of the configuration file. */
export type SettingTable<Values> = { readonly [Name in keyof Values]: Setting<Values[Name]> };

const TRUE_WORDS = new Set(['true', 'on', '1', 'yes']);
const FALSE_WORDS = new Set(['false', 'off', '0', 'no']);

export const BOOLEAN: SettingKind<boolean> = {
  schema: { type: 'boolean' },
  read(written) {
    if (typeof written === 'boolean') return { value: written };
    const word = typeof written === 'string' ? written.trim().toLowerCase() : '';
    if (TRUE_WORDS.has(word)) return { value: true };
    return FALSE_WORDS.has(word) ? { value: false } : { expected: 'true or false' };
  },
};

export const POSITIVE_NUMBER: SettingKind<number> = {
  schema: { type: 'number', exclusiveMinimum: 0 },
  read(written) {
    const value = typeof written === 'string' && written.trim() !== '' ? Number(written) : written;
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
      return { expected: 'a number above 0' };
    }
    return { value };
  },
};

export const COUNT: SettingKind<number> = {
  schema: { type: 'number', minimum: 0 },
  read: (written) =>
    written === 0 || written === '0' ? { value: 0 } : POSITIVE_NUMBER.read(written),
};

/** A part of a whole. */
export const SHARE: SettingKind<number> = {
  schema: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  read(written) {
    const read = POSITIVE_NUMBER.read(written);
    return 'value' in read && read.value < 1 ? read : { expected: 'a number between 0 and 1' };
  },
};

export const TEXT: SettingKind<string> = {
  schema: { type: 'string' },
  read: (written) =>
    typeof written === 'string' ? { value: written.trim() } : { expected: 'text' },
};

/** One of several words. */
export function createChoice<Word extends string>(...words: readonly Word[]): SettingKind<Word> {
  return {
    schema: { type: 'string', enum: words },
    read(written) {
      const value = words.find((word) => word === written);
      return value === undefined
        ? { expected: words.map((word) => JSON.stringify(word)).join(' or ') }
        : { value };
    },
  };
}
