import { changed, changeOf, type ListChange } from './list-change.ts';
import { type Packed, pack, unpack } from './portable.ts';

/** How many lists both sides remember; the one that was not used for longest is forgotten first. */
const REMEMBERED = 8;

/** A change of a list that both sides know under a name. */
export interface SentChange {
  readonly list: string;
  readonly start: number;
  readonly end: number;
  readonly between: Packed;
}

/** What the other side knows, so that of conversations only what it has not seen is sent. */
export interface SentLists {
  /** Every change must be sent, and in this order. */
  change(list: string, items: readonly unknown[]): SentChange;
  /** Of a list that only ever grows: nothing is compared, however long it is. */
  growth(list: string, items: readonly unknown[]): SentChange;
  /** What was to be sent did not go: the other side knows nothing for sure. */
  forget(): void;
}

interface Sent {
  readonly items: readonly unknown[];
  readonly length: number;
}

export function createSentLists(): SentLists {
  const lists = new Map<string, Sent>();
  const send = (list: string, items: readonly unknown[], found: ListChange): SentChange => {
    remember(lists, list, { items, length: items.length });
    const { start, end, between } = found;
    return { list, start, end, between: pack(between) };
  };
  return {
    change(list, items) {
      const { items: before = [] } = lists.get(list) ?? {};
      // A copy: whoever has the list may add to it.
      return send(list, [...items], changeOf(before, items));
    },
    growth(list, items) {
      const sent = lists.get(list);
      const start = sent?.items === items ? Math.min(sent.length, items.length) : 0;
      return send(list, items, { start, end: 0, between: items.slice(start) });
    },
    forget: () => lists.clear(),
  };
}

/** Keeps it as the one that was used last. */
export function remember<Item>(lists: Map<string, Item>, list: string, item: Item): void {
  lists.delete(list);
  lists.set(list, item);
  const [oldest] = lists.keys();
  if (lists.size > REMEMBERED && oldest !== undefined) lists.delete(oldest);
}

/** The first so many of its items; more may be added behind them later. */
export interface KnownList {
  readonly items: readonly unknown[];
  readonly length: number;
}

/** The same lists on the other side. */
export interface KnownLists {
  take(change: SentChange): KnownList;
}

export function createKnownLists(): KnownLists {
  const lists = new Map<string, unknown[]>();
  return {
    take({ list, start, end, between }) {
      const before = lists.get(list) ?? [];
      const added = listOf(unpack(between));
      const grows = start === before.length;
      const items = grows ? before : changed(before, { start, end, between: added });
      if (grows) for (const each of added) items.push(each);
      remember(lists, list, items);
      return { items, length: items.length };
    },
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
