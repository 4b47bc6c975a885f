import { type Packed, serializeValue, deserializeValue } from './serialize.ts';

/** How many lists both sides cache; the least recently used one is dropped first. */
const REMEMBERED = 8;

/** A change of a list that both sides know under a name. */
export interface SentChange {
  readonly list: string;
  readonly start: number;
  readonly end: number;
  readonly between: Packed;
}

/** Tracks the lists that the other side has, so that only new items of a conversation are sent. */
export class SentLists {
  readonly #lists = new Map<string, KnownList>();

  /** Every change must be sent, and in this order. */
  recordChange(list: string, items: readonly unknown[]): SentChange {
    const { items: before = [] } = this.#lists.get(list) ?? {};
    // A copy, because the owner of the list may append to it.
    return this.#record(list, [...items], computeChange(before, items));
  }

  /** For a list that only grows: nothing is compared. */
  recordGrowth(list: string, items: readonly unknown[]): SentChange {
    const sent = this.#lists.get(list);
    const start = sent?.items === items ? Math.min(sent.length, items.length) : 0;
    return this.#record(list, items, { start, end: 0, between: items.slice(start) });
  }

  /** A send failed, so the lists of the other side are unknown. */
  clear(): void {
    this.#lists.clear();
  }

  #record(list: string, items: readonly unknown[], found: ListChange): SentChange {
    addToCache(this.#lists, list, { items, length: items.length });
    const { start, end, between } = found;
    return { list, start, end, between: serializeValue(between) };
  }
}

/** Adds the item as the most recently used one. */
export function addToCache<Item>(lists: Map<string, Item>, list: string, item: Item): void {
  lists.delete(list);
  lists.set(list, item);
  const [oldest] = lists.keys();
  if (lists.size > REMEMBERED && oldest !== undefined) lists.delete(oldest);
}

/** The first items of a list, which may have grown since. */
export interface KnownList {
  readonly items: readonly unknown[];
  readonly length: number;
}

/** The same lists on the other side. */
export class KnownLists {
  readonly #lists = new Map<string, unknown[]>();

  applyChange({ list, start, end, between }: SentChange): KnownList {
    const before = this.#lists.get(list) ?? [];
    const added = findList(deserializeValue(between));
    const grows = start === before.length;
    const items = grows ? before : applyChange(before, { start, end, between: added });
    if (grows) for (const each of added) items.push(each);
    addToCache(this.#lists, list, items);
    return { items, length: items.length };
  }
}

function findList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The change from one list to the next: the start and the end stay, the items between are replaced. */
export interface ListChange {
  readonly start: number;
  readonly end: number;
  readonly between: readonly unknown[];
}

/** Compares the items of two lists, so that only new ones are sent. */
export function computeChange(before: readonly unknown[], after: readonly unknown[]): ListChange {
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

/** Applies a change; unchanged items are shared. */
export function applyChange(
  before: readonly unknown[],
  { start, end, between }: ListChange,
): unknown[] {
  return [...before.slice(0, start), ...between, ...(end === 0 ? [] : before.slice(-end))];
}

/** Compares plain data by content, other values by identity. */
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
