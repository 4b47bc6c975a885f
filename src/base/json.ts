import { getErrorMessage } from './errors.ts';
import { explainJsonMistake } from './json-mistakes.ts';

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      /** Line, column and what is probably meant: `line 3, column 5: missing comma before this`. */
      readonly error: string;
    };

/** Parses JSON without throwing; a byte-order mark in front is ignored. */
export function parseJson(text: string): ParsedJson {
  const clean = stripByteOrderMark(text);
  try {
    return { ok: true, value: JSON.parse(clean) };
  } catch (thrown) {
    return {
      ok: false,
      // Read by few callers: many only try whether a text is JSON.
      get error() {
        return explainJsonMistake(clean, getErrorMessage(thrown));
      },
    };
  }
}

/** How deep data may be nested so that code which descends into it never runs out of stack. */
export const MAX_NESTING = 1000;

export function isNestedTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= MAX_NESTING; depth++) {
    level = level.flatMap((each): readonly unknown[] =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}

export function stripByteOrderMark(text: string): string {
  return text.codePointAt(0) === 0xfeff ? text.slice(1) : text;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Looks up a foreign key in a table; names such as `constructor` have no value there. */
export function getOwnValue<Value>(
  table: Readonly<Record<string, Value>>,
  key: string,
): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The JSON type of a value, for messages: `null`, `array`, `string` … */
export function getTypeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Truncates to at most `limit` UTF-16 units without splitting a surrogate pair. */
export function truncateText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit);
  const last = cut.charCodeAt(limit - 1);
  const endsInHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return endsInHighSurrogate ? cut.slice(0, -1) : cut;
}

/** Formats JSON with sorted keys, so that equal values have equal text. */
export function formatCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatCanonicalJson).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${formatCanonicalJson(value[name])}`);
  return `{${fields.join(',')}}`;
}
