import { isRecord } from '../base/json.ts';

export type Fields = Readonly<Record<string, unknown>>;

const DEEPEST_COMPARED = 64;

/** Compares JSON values; a missing key equals one that holds undefined. */
export function isSame(left: unknown, right: unknown, depth = 0): boolean {
  if (Object.is(left, right)) return true;
  // Stops at a cyclic value; calling it different only costs a needless write.
  if (depth > DEEPEST_COMPARED) return false;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((x, i) => isSame(x, right[i], depth + 1));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  return listKeys(left, right).every((key) => isSame(left[key], right[key], depth + 1));
}

function listKeys(...records: readonly Fields[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

/** Lists the keys whose value is not the same in both. */
export function listChangedKeys(before: Fields, after: Fields): string[] {
  return listKeys(before, after).filter((key) => !isSame(before[key], after[key]));
}

/** Copies `target` with what changed from `before` to `after`; its other keys keep their value. */
export function copyChanges(target: unknown, before: Fields, after: Fields): unknown {
  if (!isRecord(target)) return after;
  const changed = listChangedKeys(before, after);
  return changed.length === 0 ? target : copyValues(target, changed, after);
}

/** Copies `target` with the values that `source` has under `keys`; undefined removes the key. */
export function copyValues(target: Fields, keys: readonly string[], source: Fields): Fields {
  const values = new Map(Object.entries(target));
  for (const key of keys) {
    if (source[key] === undefined) values.delete(key);
    else values.set(key, source[key]);
  }
  // Not by assignment: a key named `__proto__` would change the object's prototype.
  return Object.fromEntries(values);
}

export function omitField(fields: Fields, key: string): Fields {
  return copyValues(fields, [key], {});
}

export function findArray(value: unknown): readonly unknown[] | null {
  if (!Array.isArray(value)) return null;
  const list: readonly unknown[] = value;
  return list;
}

/** Converts any value to text that a hook can search. */
export function toPlainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return `(${typeof value} that is not JSON)`;
  }
}

export function findText(record: Fields, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = record[key];
    if (typeof value === 'string') return value;
  }
  return null;
}

/** Returns no lines for an empty text, so that adding nothing does not add an empty line. */
export function splitLines(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}
