/** How a list came out of the one before it: its start and end stay, what is between them is other. */
export interface ListChange {
  readonly start: number;
  readonly end: number;
  readonly between: readonly unknown[];
}

/** Compares what lists hold, so that of a long one only what is new is sent. */
export function changeOf(before: readonly unknown[], after: readonly unknown[]): ListChange {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && isSame(before[start], after[start])) start += 1;
  let end = 0;
  while (end < most - start && isSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
  return { start, end, between: after.slice(start, after.length - end) };
}

export function isUnchanged({ start, end, between }: ListChange, length: number): boolean {
  return between.length === 0 && start + end === length;
}

/** The list after the change; what stays is the same in both. */
export function changed(
  before: readonly unknown[],
  { start, end, between }: ListChange,
): unknown[] {
  return [...before.slice(0, start), ...between, ...(end === 0 ? [] : before.slice(-end))];
}

/** Whether two pieces of plain data say the same; of other things only whether they are one. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  if (one === null || other === null) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((each, place) => isSame(each, other[place]));
  }
  if (one instanceof Date) return other instanceof Date && one.getTime() === other.getTime();
  return isPlain(one) && isPlain(other) && isSameRecord(one, other);
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isSameRecord(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): boolean {
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]));
}
